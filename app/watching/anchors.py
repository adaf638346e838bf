"""Check the anchors of a certificate: the installed verifier judges the labelled answers of the calibration again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from app.calibration.labelled_run import labelled_arm
from app.errors import AppError
from app.pipeline import Pipeline
from app.policies.judging import PolicyJudge, PolicyJudging
from app.watching.clock import clock_problem
from data.columns import utc_now
from data.store import Store
from evaluation.analysis.faithfulness import FAITHFUL
from evaluation.audits.anchor_store import Anchor, AnchorJudgement, AnchorStore, compare_judgements
from evaluation.guarantee.answers import NO_SCORE, answer_score
from evaluation.guarantee.certificate import Certificate
from evaluation.guarantee.watching.anchors import AnchorCheck
from evaluation.runs.run_store import RunStore
from generation.prompt import Prompt


@dataclass(frozen=True, slots=True)
class AnchorState:
    """The last check of a certificate's anchors.

    checks: number of checks so far. verifier, checked_at: verifier and time of the last check; "" and None before the
    first one. result: result of the last check; None before the first one.
    """

    checks: int = 0
    verifier: str = ""
    checked_at: datetime | None = None
    result: AnchorCheck | None = None

    @property
    def raised(self) -> bool:
        """Whether the last check found the verifier to be worse than at the calibration."""
        return self.result is not None and self.result.alarm


def anchor_state(store: Store, certificate: Certificate) -> AnchorState:
    """Return the stored state of a certificate's anchors."""
    return _state(AnchorStore(store).load(certificate.id), certificate)


def check_certificate(
    pipeline: Pipeline,
    certificate: Certificate,
    judge: PolicyJudge,
    *,
    again: bool = False,
    clock: datetime | None = None,
) -> tuple[AnchorState, bool]:
    """Judge the anchors of a certificate, store the result, and return the state and whether it is new.

    The first call fixes the anchors, which are the labelled answers of the calibration that make claims. again: whether
    a verifier that judged the anchors last judges them again, although each check lowers the level of the next one.
    clock: current time, by default that of this machine. Raises AppError if the clock was set back, and the errors of
    reading the run, searching and scoring.
    """
    now = clock or utc_now()
    store = AnchorStore(pipeline.store)
    known = store.load(certificate.id)
    if problem := clock_problem(max((one.checked_at for one in known), default=None), now):
        raise AppError(problem)
    name, search = judge.name, None
    if not certificate.deployment.verifier.startswith(FAITHFUL):
        search = pipeline.search(certificate.collection)
        routed, alone = judge.searching_names(search)
        name = routed if certificate.deployment.verifier.startswith("routed/") else alone
    if len(known) > 1 and known[-1].verifier == name and not again:
        return _state(known, certificate), False
    first = known[0] if known else _calibrated(pipeline, certificate, now)
    scores = _judged(pipeline, certificate, first, PolicyJudging("", (), search), judge)
    anchors = tuple(replace(anchor, score=score) for anchor, score in zip(first.anchors, scores, strict=True))
    fresh = AnchorJudgement(max(1, len(known)), name, anchors, now)
    store.add(certificate.id, [fresh] if known else [first, fresh])
    return _state((*(known or (first,)), fresh), certificate), True


def _state(known: tuple[AnchorJudgement, ...], certificate: Certificate) -> AnchorState:
    if len(known) < 2:
        return AnchorState()
    first, last = known[0], known[-1]
    result = compare_judgements(first, last, certificate.threshold, certificate.delta)
    return AnchorState(last.number, last.verifier, last.checked_at, result)


def _calibrated(pipeline: Pipeline, certificate: Certificate, now: datetime) -> AnchorJudgement:
    data = labelled_arm(pipeline, certificate.run, certificate.arm, certificate.deployment.verifier)
    answers = data.answers
    found = tuple(
        Anchor(key[0], key[2], bool(wrong), None if score == NO_SCORE else float(score))
        for key, score, wrong, declined in zip(
            data.keys, answers.score, answers.hallucinated, answers.declined, strict=True
        )
        if not declined
    )
    if not found:
        raise AppError(f"run {certificate.run} has no labelled answer that claims anything: there are no anchors")
    return AnchorJudgement(0, certificate.deployment.verifier, found, now)


def _judged(
    pipeline: Pipeline, certificate: Certificate, first: AnchorJudgement, like: PolicyJudging, judge: PolicyJudge
) -> list[float | None]:
    """Return the scores of the anchors, in order. The score is None if the run no longer has the answer."""
    runs = RunStore(pipeline.store)
    questions = {q.id: q.text for q in runs.load_questions(certificate.run)}
    records = {(r.question_id, r.sample): r for r in runs.load_samples(certificate.run) if r.arm == certificate.arm}
    items: list[PolicyJudging] = []
    indices: list[int] = []
    for index, anchor in enumerate(first.anchors):
        record = records.get((anchor.question_id, anchor.sample))
        if record is None or record.completion is None:
            continue
        text = questions[anchor.question_id]
        prompt = Prompt(text, record.chunks, (), ())
        items.append(replace(like, question=text, answers=((prompt, record.completion),)))
        indices.append(index)
    scores: list[float | None] = [None] * len(first.anchors)
    for index, (evaluation,) in zip(indices, judge.judge(items), strict=True):
        scores[index] = answer_score(evaluation)
    return scores
