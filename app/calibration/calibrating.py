"""Test thresholds on a labelled run and write a certificate for every rate that can be certified."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

from app.calibration.certificate_files import CertificateFiles, PublishedCollection
from app.calibration.labelled_run import LabelledArm, labelled_arm
from app.calibration.looks import record_look
from app.calibration.threshold_plan import GridSource, ThresholdPlan, threshold_plan
from app.errors import AppError, UsageError
from app.pipeline import Pipeline
from data.columns import utc_now
from evaluation.errors import EvaluationError
from evaluation.guarantee.answers import NO_SCORE
from evaluation.guarantee.certificate import FORMAT, Certificate, Deployment, canonical
from evaluation.guarantee.conformal import ConformalThreshold, conformal_threshold
from evaluation.guarantee.curves import RateCurve, clopper_pearson, rate_curve
from evaluation.guarantee.exact import fewest_answered, labels_needed
from evaluation.guarantee.levels import check_level, share_of_delta
from evaluation.guarantee.thresholds import (
    ThresholdSequence,
    ThresholdTest,
    check_thresholds,
    fixed_sequence,
)
from evaluation.guarantee.unlabelled import ActiveUnlabelledScores
from evaluation.runs.policy_arm import chunk_settings, policy_settings
from retrieval.collections import list_collections

POWER = 0.8


@dataclass(frozen=True, slots=True)
class CalibrationRequest:
    """Settings of a calibration.

    run_id, arm, verifier: see ``labelled_arm``. alphas: hallucination rates to certify together. delta: maximum
    probability that any of the certificates is wrong. thresholds: thresholds from strict to loose, fixed before the
    labels were seen; if empty, they are computed from answers outside the test. start: share of questions that the
    first threshold should answer; None for the default of ``threshold_grid``. predictions: whether the test also uses
    the verifier's scores of unlabelled answers (uniform draws only). offers: number of policies that are calibrated
    together; each test has the level delta / (number of alphas * offers). Raises UsageError for invalid values.
    """

    run_id: str
    alphas: tuple[float, ...] = (0.1,)
    delta: float = 0.05
    arm: str | None = None
    verifier: str | None = None
    thresholds: tuple[float, ...] = ()
    start: float | None = None
    predictions: bool = False
    offers: int = 1

    def __post_init__(self) -> None:
        try:
            for alpha in self.alphas:
                check_level("--alpha", alpha)
            check_level("--delta", self.delta)
            if self.start is not None:
                check_level("--start", self.start)
            if self.thresholds:
                check_thresholds(self.thresholds)
        except EvaluationError as error:
            raise UsageError(str(error)) from None
        if self.thresholds and self.start is not None:
            raise UsageError("give --thresholds or --start, not both: each sets the first threshold")
        if not self.alphas or len(set(self.alphas)) < len(self.alphas):
            raise UsageError(f"--alpha is {', '.join(map(str, self.alphas)) or 'not given'}: give each value once")


@dataclass(frozen=True, slots=True)
class Certification:
    """The result of a calibration for one alpha.

    sequence: the tests of the thresholds. certificate, path: the certificate and its file; None if no threshold passed.
    fewest_answered: minimum number of answers for a certificate at this level. labels_needed: number of labelled
    questions with which the first threshold passes with probability 0.8 if the observed rate and answer rate are the
    true ones; None for an active draw, or if no number suffices. conformal: threshold of conformal calibration; None
    for an active draw.
    """

    sequence: ThresholdSequence
    certificate: Certificate | None
    path: Path | None
    fewest_answered: int
    labels_needed: int | None
    conformal: ConformalThreshold | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """The result of a calibration.

    policy: name of the certified policy in certificates. grid: source of the thresholds. tested: number of labelled
    answers in the test. scored: number of tested answers with a score; the others pass no threshold. earlier: number of
    earlier calibrations of this run with other labels or settings. results: one result per alpha. curve: rate at each
    tested threshold; None for an active draw.
    """

    request: CalibrationRequest
    run_id: str
    arm: str
    policy: str
    verifier: str
    grid: GridSource
    tested: int
    scored: int
    earlier: int
    results: tuple[Certification, ...]
    curve: RateCurve | None


def calibrate(pipeline: Pipeline, request: CalibrationRequest, *, clock: datetime | None = None) -> Calibration:
    """Test thresholds on a run's labels and save a certificate for each alpha that passes.

    clock: current time; by default that of this machine. Raises the errors of ``labelled_arm``. Raises AppError if the
    collection has changed since the run, if the clock was set back, or if the arm already withholds answers.
    """
    now = clock or utc_now()
    data = labelled_arm(pipeline, request.run_id, request.arm, request.verifier)
    policy = certifiable_policy(data.arm, _settings(data))
    _check_clock(data, now)
    check_collection(pipeline, data)
    level = share_of_delta(request.delta, len(request.alphas) * request.offers)
    plan = threshold_plan(data, request.thresholds, request.start, request.predictions)
    files = CertificateFiles(pipeline.home)
    earlier = record_look(files.folder, data.info.id, data.arm, _look(data, request))
    results = tuple(_certify(files, data, request, alpha, level, plan, earlier, now) for alpha in request.alphas)
    every = sorted({t.threshold for result in results for t in result.sequence.tests}, reverse=True)
    curve = rate_curve(plan.tested, every) if data.probability is None else None
    scored = int(np.count_nonzero(plan.tested.score > NO_SCORE))
    tested = len(plan.tested.score)
    return Calibration(
        request, data.info.id, data.arm, policy, data.verifier, plan.source, tested, scored, earlier, results, curve
    )


def _look(data: LabelledArm, request: CalibrationRequest) -> str:
    """Return the SHA-256 (hex) of the labels, scores and settings, which identifies this calibration."""
    settings = [list(request.alphas), request.delta, list(request.thresholds), request.start, request.predictions]
    settings += [request.offers] if request.offers > 1 else []
    return hashlib.sha256(canonical([data.sha256, data.verifier, *settings]).encode()).hexdigest()


def certifiable_policy(arm: str, settings: str) -> str:
    """Return the name of the policy in certificates of this arm: the policies of the arm, followed by abstain.

    Raises UsageError if the arm already abstains, because calibration chooses the threshold of abstain.
    """
    found = policy_settings(settings)
    if found is None or found.policy == "none":
        return "abstain"
    if arm.endswith("+abstain"):
        raise UsageError(
            f"the arm {arm} withholds answers below a fixed threshold: calibrate {arm.removesuffix('+abstain')}, whose "
            "threshold is then chosen"
        )
    return f"{found.policy},abstain"


def _settings(data: LabelledArm) -> str:
    return next(arm.settings for arm in data.info.config.arms if arm.name == data.arm)


def published_collection(pipeline: Pipeline, name: str) -> PublishedCollection:
    """Return the published state of a collection."""
    found = next((info for info in list_collections(pipeline.store) if info.name == name), None)
    if found is None or found.generation_hash is None:
        return PublishedCollection("")
    return PublishedCollection(found.generation_hash, found.published_at)


def check_collection(pipeline: Pipeline, data: LabelledArm) -> None:
    """Raise AppError if the run searched a generation of its collection that is no longer the published one."""
    generation, name = data.info.config.generation, _label(data, "collection")
    if not generation:
        return
    now = published_collection(pipeline, name).generation
    if now != generation:
        raise AppError(
            f"the labels belong to another state of the collection: run {data.info.id} searched generation "
            f"{generation[:12]} of {name!r}, which is {now[:12] or 'gone'} now. Evaluate and label again on "
            "the published collection"
        )


def _check_clock(data: LabelledArm, now: datetime) -> None:
    latest = max(t for t in (data.info.created_at, data.info.finished_at) if t is not None)
    if now < latest:
        raise AppError(
            f"the clock was set back: it says {now.isoformat(timespec='seconds')}, but run {data.info.id} "
            f"ended at {latest.isoformat(timespec='seconds')}. Set the clock, then calibrate again"
        )


def _certify(
    files: CertificateFiles,
    data: LabelledArm,
    request: CalibrationRequest,
    alpha: float,
    level: float,
    plan: ThresholdPlan,
    earlier: int,
    now: datetime,
) -> Certification:
    tested = plan.tested
    sequence = fixed_sequence(tested, plan.thresholds(alpha, level), alpha, level, plan.unlabelled)
    chosen, certificate, path = sequence.chosen, None, None
    if chosen is not None:
        certificate = _certificate(data, request, sequence, chosen, plan, earlier, now)
        path = files.save(certificate)
    first = sequence.tests[0]
    # Labels of an active draw are not a random sample, so they give no rate to plan with.
    uniform = data.probability is None
    needed = labels_needed(_rate(first, alpha), first.answer_rate, alpha, level, POWER) if uniform else None
    return Certification(
        sequence,
        certificate,
        path,
        fewest_answered(alpha, level),
        needed,
        conformal_threshold(tested, alpha) if uniform else None,
    )


def _rate(test: ThresholdTest, alpha: float) -> float:
    """Return a rate for planning: the mean under Jeffreys' prior if it is below alpha, otherwise the observed share."""
    guess = (test.hallucinated + 0.5) / (test.answered + 1.0)
    return guess if guess < alpha or not test.answered else test.hallucinated / test.answered


def _certificate(
    data: LabelledArm,
    request: CalibrationRequest,
    sequence: ThresholdSequence,
    chosen: ThresholdTest,
    plan: ThresholdPlan,
    earlier: int,
    now: datetime,
) -> Certificate:
    tested = plan.tested
    config = data.info.config
    size = len(tested.score) + (
        len(plan.unlabelled.others) if isinstance(plan.unlabelled, ActiveUnlabelledScores) else 0
    )
    passing = np.array(float(round(chosen.answer_rate * size)))
    lower, upper = clopper_pearson(passing, np.array(float(size)), 0.95)
    settings = _settings(data)
    deployment = Deployment(
        model=config.generator,
        prompt=_label(data, "prompt hash"),
        verifier=data.verifier,
        generation=config.generation,
        encoder=config.encoder,
        retrieval=chunk_settings(settings),
        decoding=config.decoding.label,
        policy=certifiable_policy(data.arm, settings),
    )
    unsigned = Certificate(
        id="",
        format=FORMAT,
        deployment=deployment,
        model_name=_label(data, "model"),
        collection=_label(data, "collection"),
        run=data.info.id,
        arm=data.arm,
        data_sha256=data.sha256,
        alpha=sequence.alpha,
        delta=request.delta,
        level=sequence.delta,
        offers=len(request.alphas) * request.offers,
        test=sequence.test,
        threshold=chosen.threshold,
        labels=len(tested.score),
        questions=tested.questions,
        answered=chosen.answered,
        hallucinated=chosen.hallucinated,
        p_value=chosen.p_value or 0.0,
        answer_rate=chosen.answer_rate,
        answer_rate_lower=float(lower),
        answer_rate_upper=float(upper),
        looks=earlier,
        version=version("plumbline-rag"),
        created_at=now.isoformat(timespec="seconds"),
    )
    return replace(unsigned, id=unsigned.digest)


def _label(data: LabelledArm, name: str) -> str:
    return dict(data.info.labels).get(name, "")
