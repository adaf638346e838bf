"""Arms: how the chunks in a question's prompt are chosen. All arms use the same questions."""

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
    """An arm cannot be applied to a question; the question's samples are recorded as unscored with the reason."""


class MissingGoldError(NotPossibleError):
    """A question has no gold passage that this arm could show."""


class Arm(Protocol):
    """Chooses the chunks for a question."""

    @property
    def name(self) -> str:
        """Name in rows, seeds and reports."""

    @property
    def settings(self) -> str:
        """Everything besides question and collection that determines the chunks, as text; part of the run's id."""

    def prepare(self, questions: Sequence[Question]) -> None:
        """Fetch in one call what ``chunks`` will need for these questions. Optional."""

    def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
        """Chunks to show, best first. Raises NotPossibleError if the question lacks what the arm shows."""


@runtime_checkable
class ActiveArm(Arm, Protocol):
    """An arm that does more than choose chunks. The results of its methods are stored with the samples."""

    def begin(self, questions: Sequence[Question]) -> None:
        """Receive all questions of the run, in order, before any other call."""

    def question_text(self, question: Question) -> str:
        """Text to use for the question in the prompt. Raises NotPossibleError as ``chunks`` does."""

    def answer_span(self, text: str) -> Span:
        """Span of the answer in a completion; only this part is judged."""

    def observe(self, question: Question, completion: str, answer: str) -> tuple[ObservedEvent, ...]:
        """Events observed in addition to the outcome. answer: the part of the completion given by ``answer_span``."""


@runtime_checkable
class PrefixedArm(Protocol):
    """An arm that prefills the beginning of the answer. Only the continuation is judged."""

    def beginning(self, question: Question) -> str:
        """The prefix, "" for none. Raises NotPossibleError as ``ActiveArm.chunks`` does."""


def prepare_arm(arm: Arm, pending: Sequence[Question], questions: Sequence[Question]) -> None:
    """Prepare an arm for ``pending``, a subset of a run's ``questions``. Raises the errors of its parts."""
    if isinstance(arm, ActiveArm):
        arm.begin(questions)
    arm.prepare(pending)


def _checked_k(k: int, arm: str) -> int:
    if k < 1:
        raise EvaluationError(f"k is {k} for the arm {arm}: it must show at least one chunk")
    return k


class ClosedBook:
    """No chunks: the model answers from its weights."""

    name = "closed_book"
    settings = ""

    def prepare(self, questions: Sequence[Question]) -> None:
        """Do nothing."""

    def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
        """Return no chunks."""
        return ()


class Rag:
    """The k best chunks of a search with the original question."""

    def __init__(self, searcher: Searcher, k: int, settings: str = "", name: str = "rag") -> None:
        """settings: of the searcher (mode, fusion), for the run's id. Raises EvaluationError for k < 1."""
        self.name = name
        self.settings = " ".join(filter(None, (f"k={_checked_k(k, name)}", settings)))
        self._searcher = searcher
        self._k = k
        self._prepared: dict[str, tuple[RetrievedChunk, ...]] = {}

    def prepare(self, questions: Sequence[Question]) -> None:
        """Search for all questions in one call. Raises the errors of the searcher."""
        texts = tuple(dict.fromkeys(q.text for q in questions))
        if texts:
            found = self._searcher.retrieve_many(texts, self._k)
            self._prepared = dict(zip(texts, found, strict=True))

    def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
        """Search results; empty if nothing was found."""
        found = self._prepared.get(question.text)
        return self._searcher.retrieve_many((question.text,), self._k)[0] if found is None else found


class Oracle:
    """Gold passages: the chunks with the question's evidence, else the best chunks of its relevant documents.

    This is what a perfect search would return. An unanswerable question gets the closest documents.
    """

    def __init__(
        self, source: PassageSource, k: int, searcher: Searcher | None = None, name: str = "oracle", settings: str = ""
    ) -> None:
        """Create the arm.

        searcher: ranks chunks of questions without evidence; without a searcher they keep document order. settings:
        non-default settings of the searcher, for the run's id.
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
        """Search in one call for the questions with relevant documents but no evidence."""
        texts = tuple(dict.fromkeys(q.text for q in questions if q.relevant_document_ids and not q.evidence))
        if texts and self._searcher is not None:
            self._prepared = dict(zip(texts, self._searcher.retrieve_many(texts, self._depth), strict=True))

    def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
        """Up to k gold chunks. Raises MissingGoldError if the question names none, or none is in the collection."""
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
