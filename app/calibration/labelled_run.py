"""Load the scores and labels of a labelled run for calibration."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.calibration.query_scores import scores_at_query
from app.errors import AppError, UsageError
from app.pipeline import Pipeline
from data.questions import Question
from evaluation.correction.label_progress import progress_of
from evaluation.correction.label_store import LabelStore
from evaluation.correction.labelled_run import ResponseKey
from evaluation.correction.sampling import LabelDraw
from evaluation.guarantee.answers import NO_SCORE, LabelledAnswers, answer_score, labelled_answers
from evaluation.guarantee.certificate import canonical
from evaluation.outcomes import AnswerEvaluation, Outcome
from evaluation.runs.extra_verdicts import ExtraVerdicts
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_store import RunInfo, RunStore
from evaluation.statistics.counts import Floats
from evaluation.verifiers.routing import has_references

FEWEST_LABELLED = 2


@dataclass(frozen=True, slots=True)
class LabelledArm:
    """One arm of a labelled run.

    verifier: name of the verifier that gave the scores.
    keys, answers: the labelled answers, in the order of the draw.
    spare: scores of unlabelled questions, one answer each.
    sha256: SHA-256 (hex) of the questions, scores and labels.
    probability: probability with which an active draw drew each labelled question; None for a uniform draw.
    floor: smallest probability of an active draw.
    """

    info: RunInfo
    arm: str
    verifier: str
    keys: tuple[ResponseKey, ...]
    answers: LabelledAnswers
    spare: Floats
    sha256: str
    probability: Floats | None = None
    floor: float = 0.0


def labelled_arm(pipeline: Pipeline, run_id: str, arm: str | None = None, verifier: str | None = None) -> LabelledArm:
    """Return the labelled answers of one arm.

    arm: name of the arm; by default rag, or the only labelled arm. verifier: prefix of the name of a verifier that
    judged the run; by default the first verifier that needs no input except that of a query.

    Raises EvaluationError for an unknown run, UsageError for an unknown arm or verifier, and the errors of
    ``scores_at_query``. Raises AppError if the run is not finished, if it has no labels or stratified ones, or if its
    scores need input that a query does not have.
    """
    runs, store = RunStore(pipeline.store), LabelStore(pipeline.store)
    info = runs.load_run(run_id)
    if info.status != "finished":
        raise AppError(f"run {info.id} is not finished ({info.status}): run the same plumbline evaluate again")
    stored = store.load_draw(info.id)
    if stored is None:
        raise AppError(f"run {info.id} has no labels: plumbline label {info.id} draws the answers and shows them")
    name = _arm(stored.draw, arm)
    active = stored.draw.active
    if stored.stratified and not active:
        raise AppError(
            f"the labels of run {info.id} were drawn by strata, a fixed number of each, which no exact test "
            f"here supports: draw again without --stratify (plumbline label {info.id} --redraw; labels of "
            "answers that are drawn again are kept)"
        )
    progress = progress_of(stored, store.load(info.id, stored.decoding))
    if active:
        _check_active(info, stored.draw, progress.complete)
    elif progress.complete < FEWEST_LABELLED:
        raise AppError(
            f"{progress.complete} questions of run {info.id} are completely labelled, in the order of the "
            f"draw: at least {FEWEST_LABELLED} are needed (plumbline label {info.id})"
        )
    every = tuple(s for s in runs.load_samples(info.id) if s.decoding == stored.decoding)
    samples = tuple(s for s in every if s.arm == name)
    questions = runs.load_questions(info.id)
    judge = _verifier(pipeline, info, questions, verifier)
    scores = scores_at_query(pipeline, info, samples, questions, judge, _scores(pipeline, info, samples, judge))
    chosen = {
        question.question_id: (question.question_id, name, sample.sample)
        for question in stored.draw.questions
        for sample in question.samples
        if sample.arm == name
    }
    if missing := [key for key in chosen.values() if key not in scores]:
        raise AppError(f"question {missing[0][0]!r} was drawn but is not in run {info.id}: draw again (--redraw)")
    labelled = [chosen[q.question_id] for q in stored.draw.questions[: progress.complete]]
    others = [chosen[q.question_id] for q in stored.draw.questions[progress.complete :]]
    probability = None
    if active:
        others = _not_drawn(info, stored.draw, every, name)
        probability = np.array([q.probability for q in stored.draw.questions])
    labels: list[Outcome] = [progress.outcomes[key] for key in labelled]
    spare = np.array([_number(scores[key]) for key in others], dtype=np.float64)
    rows = [[*key, scores[key], label] for key, label in zip(labelled, labels, strict=True)]
    return LabelledArm(
        info,
        name,
        judge,
        tuple(labelled),
        labelled_answers([key[0] for key in labelled], [scores[key] for key in labelled], labels),
        spare,
        hashlib.sha256(canonical([info.config.questions_sha256, stored.decoding, rows]).encode()).hexdigest(),
        probability,
        stored.draw.floor,
    )


def _check_active(info: RunInfo, draw: LabelDraw, complete: int) -> None:
    if complete < len(draw.questions):
        raise AppError(
            f"{complete} of {len(draw.questions)} questions of run {info.id} are completely labelled: an "
            f"active draw must be labelled completely (plumbline label {info.id})"
        )
    if info.config.samples != 1:
        raise AppError(
            f"run {info.id} has {info.config.samples} samples of each question: labels drawn with --active "
            "certify only runs of one sample. Draw again without --active (--redraw)"
        )


def _not_drawn(info: RunInfo, draw: LabelDraw, samples: Sequence[SampleRecord], arm: str) -> list[ResponseKey]:
    """Return the arm's answers to questions that were in the sampling frame but not drawn, sorted by question."""
    arms: dict[str, set[str]] = {}
    for sample in samples:
        arms.setdefault(sample.question_id, set()).add(sample.arm)
    frame = {question for question, there in arms.items() if there >= set(draw.arms)}
    if len(frame) != draw.population:
        raise AppError(
            f"labels were drawn from {draw.population} questions, run {info.id} has {len(frame)}: draw again"
        )
    rest = frame - {q.question_id for q in draw.questions}
    return sorted((s.question_id, s.arm, s.sample) for s in samples if s.arm == arm and s.question_id in rest)


def needs_at_query_time(verifier: str, questions: Sequence[Question]) -> str:
    """Return a description of the verifier's input that a query does not have; "" if a query has all input."""
    if verifier.startswith("labels/"):
        return "human labels"
    by_reference = any(has_references(question) for question in questions)
    if verifier.startswith("reference/") or (verifier.startswith("routed/") and by_reference):
        return "reference answers"
    if " gold " in verifier and any(question.relevant_document_ids for question in questions):
        return "the passages that are known to answer (gold)"
    return ""


def _arm(draw: LabelDraw, arm: str | None) -> str:
    if arm is None:
        arm = "rag" if "rag" in draw.arms or len(draw.arms) > 1 else draw.arms[0]
    if arm not in draw.arms:
        raise UsageError(f"--arm {arm}: this run has labels of {', '.join(draw.arms)}")
    return arm


def _verifier(pipeline: Pipeline, info: RunInfo, questions: Sequence[Question], prefix: str | None) -> str:
    known = tuple(dict.fromkeys((info.config.verifier, *ExtraVerdicts(pipeline.store).verifiers(info.id))))
    fitting = [name for name in known if prefix is None or name.startswith(prefix)]
    if not fitting:
        raise UsageError(f"--verifier {prefix}: run {info.id} was judged by {' | '.join(known)}")
    for name in fitting:
        if not needs_at_query_time(name, questions):
            return name
    raise AppError(
        f"run {info.id} was judged by {needs_at_query_time(fitting[0], questions)} ({fitting[0][:60]}), which "
        "a query does not provide: a threshold on such scores cannot be applied in service. Evaluate with "
        "--faithfulness, which also judges answers by the passages in their prompts, then calibrate"
    )


def _scores(
    pipeline: Pipeline, info: RunInfo, samples: Sequence[SampleRecord], verifier: str
) -> Mapping[ResponseKey, float | None]:
    if verifier == info.config.verifier:
        return {(s.question_id, s.arm, s.sample): answer_score(s.evaluation) for s in samples}
    extra = ExtraVerdicts(pipeline.store).load(info.id, verifier)
    return {
        (s.question_id, s.arm, s.sample): answer_score(
            AnswerEvaluation(
                s.evaluation.outcome, extra.get((s.question_id, s.arm, s.decoding, s.sample), ()), s.evaluation.reason
            )
        )
        for s in samples
    }


def _number(score: float | None) -> float:
    return NO_SCORE if score is None else score
