"""One annotator's session on a labelled run: open items, given labels, progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.labelling.draws import LabelledRunInfo
from app.labelling.items import LabelItem, label_items
from data.store import Store
from evaluation.correction.label_progress import LabelProgress, progress_of, wanted_items
from evaluation.correction.label_store import GivenLabel, LabelStore, check_annotator
from evaluation.correction.labelled_run import ResponseKey
from evaluation.outcomes import Outcome
from evaluation.runs.run_store import RunStore


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
