"""Rates and differences of a run corrected by human labels, and the choice of the headline estimate."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evaluation.correction.figures import (
    DISAGREEMENTS,
    LABELLED_POSITIVES,
    cut_estimate,
    few_labels,
    labels_only,
    rectified_estimate,
    verifier_rate,
)
from evaluation.correction.labelled_run import HALLUCINATED, SUPPORTED, UNSCORED, LabelledRun
from evaluation.correction.ratio import corrected_ratio, few_for_ratio
from evaluation.correction.rectified import FOLDS, LabelledSample, RectifiedEstimate, design_of, rectified
from evaluation.correction.rogan_gladen import CONSTANT, Resamples, RoganGladen, rogan_gladen
from evaluation.correction.uncorrected import Uncorrected
from evaluation.statistics.counts import Floats
from evaluation.statistics.estimates import HallucinationEstimate, undefined
from evaluation.statistics.intervals import NO_WIDTH
from evaluation.statistics.run_summary import RunSummary

Headline = Literal["rectified", "labels_only"]


@dataclass(frozen=True, slots=True)
class CorrectedSettings:
    """Settings of the corrected estimates.

    level: nominal coverage. bootstrap: number of resamples for Rogan-Gladen. folds: number of folds of cross-fitting.
    seed: seed of both.
    """

    level: float = 0.95
    bootstrap: int = 2000
    folds: int = FOLDS
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.level < 1.0:
            raise ValueError(f"level is {self.level}: it must lie strictly between 0 and 1, e.g. 0.95")
        if self.bootstrap < 100 or self.folds < 2 or self.seed < 0:
            raise ValueError(
                f"bootstrap {self.bootstrap}, folds {self.folds}, seed {self.seed}: at least 100, 2 and 0 are needed"
            )


@dataclass(frozen=True, slots=True)
class Corrected:
    """One corrected rate or difference.

    uncorrected: estimate by the verifier alone. It is the figure of the run summary, on all questions of the arm or
    pair.
    rectified: the verifier's rate on all questions that labels were drawn from, corrected by the labels.
    labels_only: estimate from one label per question, without the verifier.
    headline: which of these two is reported, chosen by a rule fixed beforehand. headline_reason: reason of the choice.
    lambdas: weight of the verifier, one per arm (0: it did not help).

    In both corrected estimates, ``questions`` is the number of questions that labels were drawn from, ``responses`` the
    number of labelled responses of one arm, and ``event_questions`` the number of questions with the event by label.
    """

    uncorrected: HallucinationEstimate
    rectified: HallucinationEstimate
    labels_only: HallucinationEstimate
    headline: Headline
    headline_reason: str
    lambdas: tuple[float, ...]

    @property
    def estimate(self) -> HallucinationEstimate:
        """Headline estimate."""
        return self.rectified if self.headline == "rectified" else self.labels_only


@dataclass(frozen=True, slots=True)
class CorrectedArm:
    """Corrected rates of one arm.

    labelled: number of labelled responses. positives: number labelled as hallucinated. disagreements: number that
    either only the verifier or only the label calls hallucinated. undecided: number that people could not decide;
    ``hallucinated`` counts them as not hallucinated, ``if_undecided_hallucinated`` as hallucinated.
    answered: rate among answers, a ratio of two corrected totals.
    """

    arm: str
    labelled: int
    positives: int
    disagreements: int
    undecided: int
    hallucinated: Corrected
    if_undecided_hallucinated: HallucinationEstimate
    answered: Corrected
    rogan_gladen: RoganGladen


@dataclass(frozen=True, slots=True)
class CorrectedPair:
    """Corrected difference of two arms: baseline minus other.

    rogan_gladen: difference of their Rogan-Gladen rates, over the same resamples.
    """

    baseline: str
    other: str
    difference: Corrected
    rogan_gladen: HallucinationEstimate


@dataclass(frozen=True, slots=True)
class CorrectedRun:
    """Corrected figures of a run. Labels are opinions of people, not the truth.

    population: number of questions that labels were drawn from. labelled: number of labelled questions.
    """

    settings: CorrectedSettings
    population: int
    labelled: int
    arms: tuple[CorrectedArm, ...]
    pairs: tuple[CorrectedPair, ...]

    def to_json(self) -> dict[str, Any]:
        """Return nested dicts, lists, numbers, strings and None. An undefined number is None, never NaN."""
        result: dict[str, Any] = dataclasses.asdict(self)
        return result


def correct(
    run: LabelledRun,
    pairs: Sequence[tuple[str, str]] = (),
    settings: CorrectedSettings | None = None,
    summary: RunSummary | None = None,
) -> CorrectedRun:
    """Correct every labelled arm and every (baseline, other) pair of labelled arms.

    summary: summary of the run, for the uncorrected figures; without it these are undefined. Raises EvaluationError for
    arms that were not labelled.
    """
    settings = settings or CorrectedSettings()
    uncorrected = Uncorrected(summary, settings.level)
    return CorrectedRun(
        settings,
        len(run.question_ids),
        run.question_index.size,
        tuple(_arm(run, a, settings, uncorrected) for a in range(len(run.arms))),
        tuple(_pair(run, run.arm(one), run.arm(two), settings, uncorrected) for one, two in pairs),
    )


def _corrected(
    sample: LabelledSample, coefficients: Floats, uncorrected: HallucinationEstimate, settings: CorrectedSettings
) -> Corrected:
    found = rectified(sample, coefficients, settings.level, settings.seed, settings.folds)
    few = few_labels(sample, coefficients)
    floor = 0.0 if coefficients.size == 1 else -1.0
    estimate = _rectified_estimate(found, sample, coefficients, settings, floor, few)
    few = few or (estimate.reason if estimate.rate is None else "")
    return Corrected(
        uncorrected,
        estimate,
        labels_only(sample, coefficients, settings.level),
        "labels_only" if few else "rectified",
        few or "there are enough labels of both kinds and enough errors of the verifier",
        found.lambdas,
    )


def _rectified_estimate(
    found: RectifiedEstimate,
    sample: LabelledSample,
    coefficients: Floats,
    settings: CorrectedSettings,
    floor: float,
    few: str,
) -> HallucinationEstimate:
    rate = min(max(found.estimate, floor), 1.0)
    cut = cut_estimate(rate, found.lower, found.upper, sample, coefficients, settings.level, "rectified_t", floor)
    return rectified_estimate(found, cut, floor, few, settings.seed)


def _arm(run: LabelledRun, a: int, settings: CorrectedSettings, uncorrected: Uncorrected) -> CorrectedArm:
    one = np.ones(1)
    sample = run.quantities([(a, (HALLUCINATED,))])
    with_undecided = run.quantities([(a, (HALLUCINATED,))], undecided=True)
    uncorrected_rate = uncorrected.hallucinated(run.arms[a])
    hallucinated = _corrected(sample, one, uncorrected_rate, settings)
    undecided = int(run.labels[:, a, UNSCORED].sum())
    return CorrectedArm(
        run.arms[a],
        run.question_index.size,
        int(sample.labels.sum()),
        int(np.count_nonzero(sample.labels != sample.verifier)),
        undecided,
        hallucinated,
        _corrected(with_undecided, one, uncorrected_rate, settings).estimate if undecided else hallucinated.estimate,
        _answered(run, a, settings, uncorrected.answered(run.arms[a])),
        rogan_gladen(sample, 0, settings.level, Resamples(settings.seed, settings.bootstrap)),
    )


def _answered(run: LabelledRun, a: int, settings: CorrectedSettings, seen: HallucinationEstimate) -> Corrected:
    sample = run.quantities([(a, (HALLUCINATED,)), (a, (HALLUCINATED, SUPPORTED))])
    w = design_of(sample).weights
    w = w / w.mean()
    human, predicted = sample.labels.T
    used = predicted > 0
    if not used.any():
        nothing = undefined(settings.level, "no labelled response is an answer")
        return Corrected(seen, nothing, nothing, "labels_only", "no labelled response is an answer", ())
    rows = w[used]
    only = verifier_rate(
        human[used] * rows, rows, int(used.sum()), float(rows.sum() ** 2 / (rows**2).sum()), settings.level
    )
    questions = len(sample.predicted)
    only = dataclasses.replace(only, questions=questions, responses=int(used.sum()))
    few = few_for_ratio(sample, LABELLED_POSITIVES, DISAGREEMENTS)
    found = corrected_ratio(sample, settings.level, settings.seed, settings.folds)
    if found is None:
        few = "the corrected number of answers is not positive"
        return Corrected(seen, undefined(settings.level, few), only, "labels_only", few, ())
    rate = min(max(found.estimate, 0.0), 1.0)
    cut = HallucinationEstimate(
        rate,
        min(max(found.lower, 0.0), rate),
        max(min(found.upper, 1.0), rate),
        settings.level,
        questions,
        int(used.sum()),
        only.event_questions,
        only.other_questions,
        "rectified_t",
    )
    estimate = rectified_estimate(found, cut, 0.0, few, settings.seed)
    few = few or (estimate.reason if estimate.rate is None else "")
    reason = few or "there are enough labels of both kinds and enough errors of the verifier"
    return Corrected(seen, estimate, only, "labels_only" if few else "rectified", reason, found.lambdas)


def _pair(run: LabelledRun, one: int, two: int, settings: CorrectedSettings, uncorrected: Uncorrected) -> CorrectedPair:
    sample = run.quantities([(one, (HALLUCINATED,)), (two, (HALLUCINATED,))])
    seen = uncorrected.difference(run.arms[one], run.arms[two])
    difference = _corrected(sample, np.array([1.0, -1.0]), seen, settings)
    return CorrectedPair(run.arms[one], run.arms[two], difference, _rogan_gladen_difference(sample, settings))


def _rogan_gladen_difference(sample: LabelledSample, settings: CorrectedSettings) -> HallucinationEstimate:
    draws = Resamples(settings.seed, settings.bootstrap)
    arms = [rogan_gladen(sample, k, settings.level, draws).rate for k in (0, 1)]
    for estimate in arms:
        if estimate.rate is None:
            return undefined(settings.level, estimate.reason)
    rate = float(arms[0].rate or 0.0) - float(arms[1].rate or 0.0)
    change = draws.replicates(sample, 0).values - draws.replicates(sample, 1).values
    tail = (1.0 - settings.level) / 2.0
    lower = float(np.quantile(np.nan_to_num(change, nan=-1.0), tail))
    upper = float(np.quantile(np.nan_to_num(change, nan=1.0), 1.0 - tail))
    coefficients = np.array([1.0, -1.0])
    if upper - lower <= NO_WIDTH:
        return undefined(settings.level, CONSTANT)
    found = cut_estimate(rate, lower, upper, sample, coefficients, settings.level, "rogan_gladen", -1.0)
    return dataclasses.replace(found, seed=settings.seed)
