"""Labelling a stored run: create or extend its draw, one annotator's session, labels to and from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from app.errors import AppError, UsageError
from app.labelling.items import LabelItem, item_id, label_items
from app.pipeline import Pipeline
from data.label_file import LabelRow, label_file_content, parse_labels, refusal, write_labels
from data.refused import Refused, shown
from data.store import Store
from evaluation.correction.label_progress import LabelProgress, progress_of, wanted_items
from evaluation.correction.label_store import GivenLabel, LabelStore, StoredDraw, check_annotator
from evaluation.correction.labelled_run import ResponseKey
from evaluation.correction.sampling import LabelDraw, draw_labels, strata_by_verdict
from evaluation.guarantee.active_draw import draw_active_labels
from evaluation.guarantee.answers import answer_score
from evaluation.outcomes import OUTCOMES, Outcome
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_store import RunInfo, RunStore
from evaluation.statistics.counts import OutcomeRecord

DEFAULT_QUESTIONS = 60


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """A requested draw.

    None, or empty arms: as in the run's draw, else the default (60 questions, every arm). stratify: whether to draw as
    many questions flagged by the verifier as others. redraw: replace the run's draw. active: whether to draw questions
    more often where the verifier is unsure.
    """

    questions: int | None = None
    arms: tuple[str, ...] = ()
    seed: int | None = None
    stratify: bool = False
    redraw: bool = False
    active: bool = False


@dataclass(frozen=True, slots=True)
class LabelledRunInfo:
    """A run with its draw. samples: those with the decoding settings of the draw."""

    info: RunInfo
    stored: StoredDraw
    samples: tuple[SampleRecord, ...]

    @property
    def records(self) -> list[OutcomeRecord]:
        """The verifier's outcomes."""
        return outcome_records(self.samples)


def open_draw(pipeline: Pipeline, run_id: str, request: DrawRequest) -> LabelledRunInfo:
    """The run's draw: the stored one, with another number of questions if requested, or a new one.

    Raises EvaluationError for an unknown run, or more questions than there are; AppError for a run that is not
    finished; UsageError for settings of a different draw without ``redraw``.
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
    """Questions that have all of the arms."""
    by_question: dict[str, set[str]] = {}
    for record in records:
        by_question.setdefault(record.question_id, set()).add(record.arm)
    return sum(set(arms) <= there for there in by_question.values())


def _changed(stored: StoredDraw, request: DrawRequest) -> StoredDraw | None:
    """The stored draw with the requested number of questions; None if nothing changes."""
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
    """The verifier's outcomes of samples with one decoding setting."""
    return [OutcomeRecord(s.question_id, s.arm, s.sample, s.evaluation.outcome) for s in samples]


class Labelling(Protocol):
    """One annotator's labelling of responses. items: those to label, in order."""

    annotator: str

    @property
    def items(self) -> Sequence[LabelItem]:
        """The responses to label, in order."""

    def own(self) -> dict[ResponseKey, Outcome]:
        """This annotator's labels as stored now."""

    def label(self, item: LabelItem, label: Outcome) -> None:
        """Commit one label; replaces this annotator's earlier one."""

    def first_open(self) -> int | None:
        """Index of the first item that this annotator has not labelled, None if there is none."""

    def progress(self) -> LabelProgress:
        """Labels of all annotators."""


def equal_answers(run: LabelledRunInfo) -> dict[ResponseKey, tuple[ResponseKey, ...]]:
    """For each drawn response, the drawn responses to its question with the same text, itself included.

    Policies give many answers unchanged, and an answer is right or wrong whoever gave it.
    """
    texts = {(s.question_id, s.arm, s.sample): s.completion.text for s in run.samples if s.completion is not None}
    drawn = wanted_items(run.stored)
    groups: dict[tuple[str, object], list[ResponseKey]] = {}
    for key in drawn:
        groups.setdefault((key[0], texts.get(key, key)), []).append(key)
    return {key: tuple(group) for group in groups.values() for key in group}


class LabelSession:
    """One annotator's labelling of one run. Every label is committed at once; nothing else is stored here.

    items: the first of equal answers to a question only; its label counts for all of them.
    """

    def __init__(self, store: Store, run: LabelledRunInfo, annotator: str, adjudicate: bool = False) -> None:
        """adjudicate: only items with disagreement; each label settles one. Raises EvaluationError for an invalid
        name.
        """
        self._labels, self._run, self._settles = LabelStore(store), run, adjudicate
        self.annotator = check_annotator(annotator)
        questions = RunStore(store).load_questions(run.info.id)
        keys: Sequence[ResponseKey] = wanted_items(run.stored)
        if adjudicate:
            mine = {g.key for g in self._load_labels() if g.settles and g.annotator == self.annotator}
            disputed = set(self.progress().disputed)
            keys = [key for key in keys if key in disputed or key in mine]
        self._equal = equal_answers(run)
        first = dict.fromkeys(next((k for k in keys if k in self._equal[key]), key) for key in keys)
        keys = [key for key in keys if key in first]
        self.items = label_items(store, run.info, run.stored.decoding, keys, run.samples, questions)

    @property
    def run_id(self) -> str:
        """The run's."""
        return self._run.info.id

    @property
    def adjudicates(self) -> bool:
        """Whether labels settle disagreements."""
        return self._settles

    def own(self) -> dict[ResponseKey, Outcome]:
        """This annotator's labels as stored now (another session of the same annotator may be open)."""
        return {
            g.key: g.label for g in self._load_labels() if g.annotator == self.annotator and g.settles == self._settles
        }

    def label(self, item: LabelItem, label: Outcome) -> None:
        """Commit one label, for all equal answers to the question; replaces this annotator's earlier one."""
        given = [GivenLabel(key, self.annotator, label, self._settles) for key in self._equal[item.key]]
        self._labels.save(self.run_id, self._run.stored.decoding, given)

    def first_open(self) -> int | None:
        """Index of the first item that this annotator has not labelled, None if there is none."""
        own = self.own()
        return next((i for i, item in enumerate(self.items) if item.key not in own), None)

    def progress(self) -> LabelProgress:
        """Labels of all annotators."""
        return progress_of(self._run.stored, self._load_labels())

    def _load_labels(self) -> tuple[GivenLabel, ...]:
        return self._labels.load(self._run.info.id, self._run.stored.decoding)


def export_labels(session: Labelling, path: Path) -> int:
    """Write the session's items with this annotator's labels; returns their number. Raises DataError."""
    own = session.own()
    return write_labels(
        path,
        (
            LabelRow(
                item.id,
                own.get(item.key, ""),
                item.question,
                item.answer,
                "\n".join(item.references),
                "\n\n".join(f"{p.title}: {p.before}{p.text}{p.after}" for p in item.passages),
                item.remark,
            )
            for item in session.items
        ),
    )


@dataclass(frozen=True, slots=True)
class ImportedLabels:
    """Imported labels. labels: number written. blank: lines without a label. annotators: their names."""

    labels: int
    blank: int
    annotators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ParsedLabels:
    """Validated labels of a file, not yet stored. blank: lines without a label."""

    given: tuple[GivenLabel, ...]
    blank: int


def filled_in(
    run: LabelledRunInfo, content: bytes, name: str, annotator: str, *, settles: bool = False, others: bool = True
) -> ParsedLabels:
    """Parse a completed label file.

    name: of the file, for messages. annotator: for lines without a name. others: whether lines may name another
    annotator. Raises DataError, AppError or EvaluationError naming file, lines and what to do: for ids that were not
    drawn, invalid labels and names, and a file without labels.
    """
    by_id = {item_id(run.info.id, run.stored.decoding, key): key for key in wanted_items(run.stored)}
    return parsed_labels(by_id, content, name, annotator, settles=settles, others=others)


def parsed_labels(
    by_id: Mapping[str, ResponseKey],
    content: bytes,
    name: str,
    annotator: str,
    *,
    settles: bool = False,
    others: bool = True,
) -> ParsedLabels:
    """Parse a completed file of labels of these responses, by item id. Otherwise like ``filled_in``."""
    annotator = check_annotator(annotator)
    read = parse_labels(content, name, by_id, annotator)
    problems = [*read.problems]
    if not others:
        strange = (label for label in read.labels if label.annotator != annotator)
        reason = f"it names another annotator: these labels are to be {annotator}'s"
        problems += [Refused(label.where, reason) for label in strange]
    if problems:
        raise AppError(refusal(name, problems))
    if not read.labels:
        raise AppError(f"{name} has no label: fill in its column label")
    given = [GivenLabel(by_id[r.item], check_annotator(r.annotator), _outcome(r.label), settles) for r in read.labels]
    return ParsedLabels(tuple(given), read.blank)


def keep_labels(store: Store, run: LabelledRunInfo, found: ParsedLabels) -> ImportedLabels:
    """Commit them, all or none; a label counts for all equal answers to the question that the file does not label.

    Raises EvaluationError if the run has changed meanwhile.
    """
    equal = equal_answers(run)
    named = {(g.annotator, g.key) for g in found.given}
    copied = [
        replace(g, key=key) for g in found.given for key in equal.get(g.key, ()) if (g.annotator, key) not in named
    ]
    LabelStore(store).save(run.info.id, run.stored.decoding, (*copied, *found.given))
    return ImportedLabels(len(found.given), found.blank, tuple(dict.fromkeys(g.annotator for g in found.given)))


def import_labels(
    pipeline: Pipeline, run: LabelledRunInfo, path: Path, annotator: str, settles: bool
) -> ImportedLabels:
    """Import a completed label file: stores all of its labels, or none. Raises as ``filled_in`` does."""
    found = filled_in(run, label_file_content(path), shown(path), annotator, settles=settles)
    return keep_labels(pipeline.store, run, found)


def _outcome(label: str) -> Outcome:
    return next(o for o in OUTCOMES if o == label)
