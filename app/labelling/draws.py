"""Draw the questions and responses of a stored run that people label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.errors import AppError, UsageError
from app.pipeline import Pipeline
from evaluation.correction.label_store import LabelStore, StoredDraw
from evaluation.correction.sampling import LabelDraw, draw_labels, strata_by_verdict
from evaluation.guarantee.active_draw import draw_active_labels
from evaluation.guarantee.answers import answer_score
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_store import RunInfo, RunStore
from evaluation.statistics.counts import OutcomeRecord

DEFAULT_QUESTIONS = 60


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """Settings of a draw.

    questions: number of questions; None for that of the run's draw, or DEFAULT_QUESTIONS. arms: names of the arms; if
    empty, those of the run's draw, or all. seed: seed; None for that of the run's draw, or 0. stratify: whether to draw
    equal numbers of questions that the verifier flagged and did not flag. redraw: whether to replace the run's draw.
    active: whether to draw questions with a higher probability if the verifier is unsure.
    """

    questions: int | None = None
    arms: tuple[str, ...] = ()
    seed: int | None = None
    stratify: bool = False
    redraw: bool = False
    active: bool = False


@dataclass(frozen=True, slots=True)
class LabelledRunInfo:
    """A run with its draw. samples: samples with the decoding settings of the draw."""

    info: RunInfo
    stored: StoredDraw
    samples: tuple[SampleRecord, ...]

    @property
    def records(self) -> list[OutcomeRecord]:
        """The verifier's outcomes of the samples."""
        return outcome_records(self.samples)


def open_draw(pipeline: Pipeline, run_id: str, request: DrawRequest) -> LabelledRunInfo:
    """Return the stored draw of a run, with the requested number of questions, or make and store a new one.

    Raises EvaluationError for an unknown run or too many questions, AppError for a run that is not finished, UsageError
    for settings that differ from the stored draw if ``redraw`` is not set.
    """
    runs, labels = RunStore(pipeline.store), LabelStore(pipeline.store)
    info = runs.load_run(run_id)
    if info.status != "finished":
        raise AppError(
            f"run {info.id} is not finished ({info.status}): its questions so far are not a random sample. "
            "Run the same plumbline evaluate again, then label"
        )
    stored = None if request.redraw else labels.load_draw(info.id)
    decoding = stored.decoding if stored else info.config.decoding.label
    samples = tuple(s for s in runs.load_samples(info.id) if s.decoding == decoding)
    if stored is None:
        stored = _drawn(info, samples, request)
        labels.save_draw(info.id, stored)
    elif changed := _changed(stored, request):
        labels.save_draw(info.id, changed)
        stored = changed
    return LabelledRunInfo(info, stored, samples)


def _drawn(info: RunInfo, samples: Sequence[SampleRecord], request: DrawRequest) -> StoredDraw:
    records = outcome_records(samples)
    arms = request.arms or tuple(arm.name for arm in info.config.arms)
    seed = 0 if request.seed is None else request.seed
    population = _population(records, arms)
    wanted = min(DEFAULT_QUESTIONS, population) if request.questions is None else request.questions
    decoding = info.config.decoding.label
    if request.active:
        scores = {(s.question_id, s.arm, s.sample): answer_score(s.evaluation) for s in samples}
        active = draw_active_labels(scores, arms, wanted, seed)
        return _stored(active, decoding, len(active.questions))
    if request.stratify:
        strata = strata_by_verdict(r for r in records if r.arm in arms)
        return _stored(draw_labels(records, arms, wanted, seed, strata, "equal"), decoding, wanted)
    if not 2 <= wanted <= population:
        draw_labels(records, arms, wanted, seed)  # raises the error message
    return _stored(draw_labels(records, arms, population, seed), decoding, wanted)


def _stored(draw: LabelDraw, decoding: str, wanted: int) -> StoredDraw:
    return StoredDraw(draw, decoding, min(wanted, len(draw.questions)))


def _population(records: Sequence[OutcomeRecord], arms: Sequence[str]) -> int:
    """Return the number of questions that all of these arms answered."""
    by_question: dict[str, set[str]] = {}
    for record in records:
        by_question.setdefault(record.question_id, set()).add(record.arm)
    return sum(set(arms) <= there for there in by_question.values())


def _changed(stored: StoredDraw, request: DrawRequest) -> StoredDraw | None:
    """Return the stored draw with the requested number of questions, or None if nothing changes.

    Raises UsageError for settings that differ from the draw.
    """
    other = []
    if request.arms and request.arms != stored.draw.arms:
        other.append(f"the arms {','.join(stored.draw.arms)}")
    if request.seed is not None and request.seed != stored.draw.seed:
        other.append(f"the seed {stored.draw.seed}")
    if request.stratify and len(stored.draw.strata) == 1:
        other.append("no strata")
    if request.active and not stored.draw.active:
        other.append("equal probabilities")
    if stored.draw.active and request.questions is not None:
        other.append("a random number of questions")
    elif stored.stratified and request.questions not in (None, stored.wanted):
        other.append(f"{stored.wanted} questions, by strata")
    if other:
        raise UsageError(
            f"this run's draw has {', '.join(other)}: leave the argument out to continue it, or draw again "
            "(labels of responses that are drawn again are kept)",
            parameter="redraw",
        )
    if request.questions is None or request.questions == stored.wanted:
        return None
    if not 2 <= request.questions <= len(stored.draw.questions):
        most = len(stored.draw.questions)
        raise UsageError(f"{request.questions} questions cannot be drawn: choose 2 to {most}", parameter="questions")
    return replace(stored, wanted=request.questions)


def outcome_records(samples: Sequence[SampleRecord]) -> list[OutcomeRecord]:
    """Return the verifier's outcomes of samples. The samples must have one decoding setting."""
    return [OutcomeRecord(s.question_id, s.arm, s.sample, s.evaluation.outcome) for s in samples]
