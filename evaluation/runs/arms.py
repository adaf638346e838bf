"""Arms: how a question gets the chunks that its prompt shows. The same questions go through every arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from data.questions import Question
from evaluation.errors import EvaluationError
from evaluation.evidence.passages import PassageSource, Searcher, gold_chunks
from evaluation.runs.records import ObservedEvent
from retrieval.chunking.chunks import RetrievedChunk
from retrieval.chunking.sentences import Span


class NotPossibleError(EvaluationError):
    """An arm cannot do with a question what it is for; the question's samples are recorded as unscored, and why."""


class MissingGoldError(NotPossibleError):
    """A question has no gold passage that this arm could show."""


class Arm(Protocol):
    """A way from a question to chunks."""

    @property
    def name(self) -> str:
        """How rows, seeds and reports name it."""

    @property
    def settings(self) -> str:
        """All that determines its chunks beside the question and the collection, in words; part of the run's id."""

    def prepare(self, questions: Sequence[Question]) -> None:
        """Fetch for these questions at once what ``chunks`` will be asked for. Not needed for correctness."""

    def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
        """The chunks to show, best first. Raises NotPossibleError when the question lacks what the arm shows."""


@runtime_checkable
class ActiveArm(Arm, Protocol):
    """An arm that does more than choose chunks. What it is called for is stored with the samples."""

    def begin(self, questions: Sequence[Question]) -> None:
        """See all questions of the run, in its order, before anything else: what it does to one may use others."""

    def asked(self, question: Question) -> str:
        """The words put to the model in the question's place. Raises NotPossibleError as ``chunks`` does."""

    def answer_span(self, text: str) -> Span:
        """Where in a completion the answer stands that is to be judged."""

    def observe(self, question: Question, completion: str, answer: str) -> tuple[ObservedEvent, ...]:
        """What it looks for beside the outcome. answer: the part of the completion that ``answer_span`` names."""


@runtime_checkable
class PrefixedArm(Protocol):
    """An arm that puts the first words of the answer into the model's mouth. Only what follows them is judged."""

    def beginning(self, question: Question) -> str:
        """The words, "" for none. Raises NotPossibleError as ``ActiveArm.chunks`` does."""


def prepare_arm(arm: Arm, pending: Sequence[Question], questions: Sequence[Question]) -> None:
    """Make an arm ready for ``pending``, some of a run's ``questions``. Raises what its parts raise."""
    if isinstance(arm, ActiveArm):
        arm.begin(questions)
    arm.prepare(pending)


def _checked_k(k: int, arm: str) -> int:
    if k < 1:
        raise EvaluationError(f"k is {k} for the arm {arm}: it must show at least one chunk")
    return k


class ClosedBook:
    """No chunks: what the model says from its own weights."""

    name = "closed_book"
    settings = ""

    def prepare(self, questions: Sequence[Question]) -> None:
        """Nothing to fetch."""

    def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
        """None."""
        return ()


class Rag:
    """The k best chunks of a search with the question's own words."""

    def __init__(self, searcher: Searcher, k: int, settings: str = "", name: str = "rag") -> None:
        """settings: how the searcher is set up (mode, fusion), for the run's id. Raises EvaluationError for k < 1."""
        self.name = name
        self.settings = " ".join(filter(None, (f"k={_checked_k(k, name)}", settings)))
        self._searcher = searcher
        self._k = k
        self._prepared: dict[str, tuple[RetrievedChunk, ...]] = {}

    def prepare(self, questions: Sequence[Question]) -> None:
        """Search for all of them in one call. Raises what the searcher raises."""
        texts = tuple(dict.fromkeys(q.text for q in questions))
        if texts:
            found = self._searcher.retrieve_many(texts, self._k)
            self._prepared = dict(zip(texts, found, strict=True))

    def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
        """What the search found; empty when it found nothing."""
        found = self._prepared.get(question.text)
        return self._searcher.retrieve_many((question.text,), self._k)[0] if found is None else found


class Oracle:
    """Gold passages: the chunks that hold the question's evidence, else the best of its relevant documents.

    It shows what a perfect search would. An unanswerable question gets the documents that come closest.
    """

    def __init__(
        self, source: PassageSource, k: int, searcher: Searcher | None = None, name: str = "oracle", settings: str = ""
    ) -> None:
        """searcher: ranks chunks where there is no evidence; without it they come in document order. settings: how the
        searcher is set up, where that is not the default, for the run's id.
        """
        self.name = name
        order = f"order={'search' if searcher else 'document'}"
        self.settings = " ".join(filter(None, (f"k={_checked_k(k, name)}", order, settings)))
        self._source = source
        self._k = k
        self._searcher = searcher
        self._depth = max(100, k)
        self._prepared: dict[str, tuple[RetrievedChunk, ...]] = {}

    def prepare(self, questions: Sequence[Question]) -> None:
        """Search in one call for the questions that have relevant documents and no evidence."""
        texts = tuple(dict.fromkeys(q.text for q in questions if q.relevant_document_ids and not q.evidence))
        if texts and self._searcher is not None:
            self._prepared = dict(zip(texts, self._searcher.retrieve_many(texts, self._depth), strict=True))

    def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
        """Up to k gold chunks. Raises MissingGoldError when the question names none, or none is in the collection."""
        if not question.evidence and not question.relevant_document_ids:
            raise MissingGoldError(f"question {question.id!r} names no evidence and no relevant document")
        ranked = () if question.evidence else self._ranked(question)
        chosen = gold_chunks(question, self._source, ranked)[: self._k]
        if not chosen:
            named = question.relevant_document_ids or tuple(s.document_id for s in question.evidence)
            raise MissingGoldError(
                f"the collection holds none of the gold passages of question {question.id!r} (documents "
                f"{', '.join(dict.fromkeys(named))}): index the documents the questions were written for"
            )
        return tuple(RetrievedChunk(chunk, 1.0, rank) for rank, chunk in enumerate(chosen, start=1))

    def _ranked(self, question: Question) -> tuple[RetrievedChunk, ...]:
        if self._searcher is None:
            return ()
        found = self._prepared.get(question.text)
        return self._searcher.retrieve_many((question.text,), self._depth)[0] if found is None else found
