"""The Question: text, reference answers and evidence."""

from __future__ import annotations

from dataclasses import dataclass

from data.blank import is_blank


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """The location of an answer: ``document.text[start:end]``, in characters."""

    document_id: str
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"evidence span [{self.start}, {self.end}) of {self.document_id!r} is empty or negative")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the data for judging its answers.

    references: accepted answers, of which any one suffices; may be empty. relevant_document_ids: IDs of the documents
    that contain the answer or, for an unanswerable question, of the closest ones; the oracle arm shows them.
    answerable: whether the collection answers the question. kind: a label for grouping (one_fact, two_article, number,
    list, paraphrase, unanswerable, ...). evidence: locations of the answer in the relevant documents. reviewed_by:
    people who reviewed and kept the question.
    """

    id: str
    text: str
    references: tuple[str, ...] = ()
    relevant_document_ids: tuple[str, ...] = ()
    answerable: bool = True
    kind: str = ""
    evidence: tuple[EvidenceSpan, ...] = ()
    reviewed_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("a question's id must not be empty")
        if is_blank(self.text):
            raise ValueError(f"question {self.id!r} has no text")
        if not self.answerable and self.references:
            raise ValueError(f"question {self.id!r} is marked unanswerable but has reference answers")
