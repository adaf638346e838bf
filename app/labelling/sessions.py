"""The label session of one annotator: items to label, given labels, and progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.labelling.draws import LabelledRunInfo
from app.labelling.items import LabelItem, label_items
from data.store import Store
from evaluation.correction.label_progress import LabelProgress, progress_of, wanted_items
from evaluation.correction.label_store import LabelStore, StoredLabel, check_annotator
from evaluation.correction.labelled_run import ResponseKey
from evaluation.outcomes import Outcome
from evaluation.runs.run_store import RunStore


class Labelling(Protocol):
    """The labelling of responses by one annotator. annotator: name."""

    annotator: str

    @property
    def items(self) -> Sequence[LabelItem]:
        """The responses to label, in order."""

    def own(self) -> dict[ResponseKey, Outcome]:
        """Return the stored labels of this annotator."""

    def label(self, item: LabelItem, label: Outcome) -> None:
        """Store a label. It replaces an earlier label of this annotator."""

    def first_open(self) -> int | None:
        """Return the index of the first item that this annotator has not labelled, or None if there is none."""

    def progress(self) -> LabelProgress:
        """Return the progress of all annotators."""


def equal_answers(run: LabelledRunInfo) -> dict[ResponseKey, tuple[ResponseKey, ...]]:
    """Return, for each drawn response, the drawn responses to its question with the same text, including itself.

    Policies return many answers unchanged. Such answers need one label only.
    """
    texts = {(s.question_id, s.arm, s.sample): s.completion.text for s in run.samples if s.completion is not None}
    drawn = wanted_items(run.stored)
    groups: dict[tuple[str, object], list[ResponseKey]] = {}
    for key in drawn:
        groups.setdefault((key[0], texts.get(key, key)), []).append(key)
    return {key: tuple(group) for group in groups.values() for key in group}


class LabelSession:
    """The labelling of a run by one annotator. Each label is stored at once.

    items: the responses to label. Of equal answers to a question only the first one is included, and its label counts
    for all of them.
    """

    def __init__(self, store: Store, run: LabelledRunInfo, annotator: str, adjudicate: bool = False) -> None:
        """adjudicate: whether to show only items on which annotators disagree, and to settle them.

        Raises EvaluationError for an invalid name of the annotator.
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
        """ID of the run."""
        return self._run.info.id

    @property
    def adjudicates(self) -> bool:
        """Whether labels settle disagreements."""
        return self._settles

    def own(self) -> dict[ResponseKey, Outcome]:
        """Return the stored labels of this annotator, including those of other open sessions."""
        return {
            g.key: g.label for g in self._load_labels() if g.annotator == self.annotator and g.settles == self._settles
        }

    def label(self, item: LabelItem, label: Outcome) -> None:
        """Store a label for all equal answers to the question. It replaces an earlier label of this annotator."""
        given = [StoredLabel(key, self.annotator, label, self._settles) for key in self._equal[item.key]]
        self._labels.save(self.run_id, self._run.stored.decoding, given)

    def first_open(self) -> int | None:
        """Return the index of the first item that this annotator has not labelled, or None if there is none."""
        own = self.own()
        return next((i for i, item in enumerate(self.items) if item.key not in own), None)

    def progress(self) -> LabelProgress:
        """Return the progress of all annotators."""
        return progress_of(self._run.stored, self._load_labels())

    def _load_labels(self) -> tuple[StoredLabel, ...]:
        return self._labels.load(self._run.info.id, self._run.stored.decoding)
