"""Define the arms of an experiment: the ways to choose the chunks in a question's prompt."""

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
    """Raised when an arm cannot be applied to a question.

    The question's samples are recorded as unscored with the reason.
    """


class MissingGoldError(NotPossibleError):
    """Raised when a question has no gold passage that the arm could show."""


class Arm(Protocol):
    """Interface of an arm, which chooses the chunks in a question's prompt."""

    @property
    def name(self) -> str:
        """Name in rows, seeds and reports."""

    @property
    def settings(self) -> str:
        """Everything that determines the chunks except question and collection, as text. It is part of the run's ID."""

    def prepare(self, questions: Sequence[Question]) -> None:
        """Fetch in one call what ``chunks`` needs for these questions. Calling it is optional."""

    def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
        """Return the chunks to show, best first. Raises NotPossibleError if the question lacks what the arm shows."""


@runtime_checkable
class ActiveArm(Arm, Protocol):
    """Interface of an arm that also changes the question or observes the response.

    The results of its methods are stored with the samples.
    """

    def begin(self, questions: Sequence[Question]) -> None:
        """Receive all questions of the run, in order, before any other call."""

    def question_text(self, question: Question) -> str:
        """Return the text that stands for the question in the prompt. Raises the same errors as ``chunks``."""

    def answer_span(self, text: str) -> Span:
        """Return the span of the answer in a completion. Only this part is judged."""

    def observe(self, question: Question, completion: str, answer: str) -> tuple[ObservedEvent, ...]:
        """Return the events observed in addition to the outcome.

        answer: the part of the completion given by ``answer_span``.
        """


@runtime_checkable
class PrefixedArm(Protocol):
    """Interface of an arm that prefills the beginning of the answer. Only the continuation is judged."""

    def beginning(self, question: Question) -> str:
        """Return the prefilled text, "" for none. Raises the same errors as ``Arm.chunks``."""


def prepare_arm(arm: Arm, pending: Sequence[Question], questions: Sequence[Question]) -> None:
    """Prepare an arm for the questions still to draw. Raises the errors of ``begin`` and ``prepare``.

    pending: the questions to prepare, a subset of ``questions``.
    questions: all questions of the run.
    """
    if isinstance(arm, ActiveArm):
        arm.begin(questions)
    arm.prepare(pending)


def _checked_k(k: int, arm: str) -> int:
    if k < 1:
        raise EvaluationError(f"k is {k} for the arm {arm}: k must be at least 1")
    return k


class ClosedBook:
    """The arm without chunks: the model answers from its weights."""

    name = "closed_book"
    settings = ""

    def prepare(self, questions: Sequence[Question]) -> None:
        """Do nothing."""

    def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
        """Return no chunks."""
        return ()


class Rag:
    """The arm that shows the k best chunks of a search with the original question."""

    def __init__(self, searcher: Searcher, k: int, settings: str = "", name: str = "rag") -> None:
        """Create the arm. Raises EvaluationError for k < 1.

        k: number of chunks to show.
        settings: settings of the searcher (mode, fusion), for the run's ID.
        """
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
        """Return the search results. They are empty if nothing was found."""
        found = self._prepared.get(question.text)
        return self._searcher.retrieve_many((question.text,), self._k)[0] if found is None else found


class Oracle:
    """The arm that shows gold passages, which a perfect search would return.

    These are the chunks with the question's evidence. For a question without evidence they are the best chunks of its
    relevant documents.
    """

    def __init__(
        self, source: PassageSource, k: int, searcher: Searcher | None = None, name: str = "oracle", settings: str = ""
    ) -> None:
        """Create the arm.

        k: maximum number of chunks to show.
        searcher: ranks the chunks of questions without evidence. Without a searcher they keep document order.
        settings: non-default settings of the searcher, for the run's ID.
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
        """Return up to k gold chunks.

        Raises MissingGoldError if the question names no gold passage, or if the collection contains none of them.
        """
        if not question.evidence and not question.relevant_document_ids:
            raise MissingGoldError(f"question {question.id!r} names no evidence and no relevant document")
        ranked = () if question.evidence else self._ranked(question)
        chosen = gold_chunks(question, self._source, ranked)[: self._k]
        if not chosen:
            named = question.relevant_document_ids or tuple(s.document_id for s in question.evidence)
            raise MissingGoldError(
                f"the collection contains none of the gold passages of question {question.id!r} (documents "
                f"{', '.join(dict.fromkeys(named))}): index the documents for which the questions were written"
            )
        return tuple(RetrievedChunk(chunk, 1.0, rank) for rank, chunk in enumerate(chosen, start=1))

    def _ranked(self, question: Question) -> tuple[RetrievedChunk, ...]:
        if self._searcher is None:
            return ()
        found = self._prepared.get(question.text)
        return self._searcher.retrieve_many((question.text,), self._depth)[0] if found is None else found
