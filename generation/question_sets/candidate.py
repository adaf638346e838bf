"""Candidate questions, with reference answers and evidence in the documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

QuestionKind = Literal["one_fact", "number", "list", "two_passage", "paraphrase", "unanswerable"]
KINDS: Final[tuple[QuestionKind, ...]] = ("one_fact", "number", "list", "two_passage", "paraphrase", "unanswerable")


@dataclass(frozen=True, slots=True)
class SourceText:
    """A document from which questions are generated. title: may be empty."""

    document_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class AnswerLocation:
    """The location of an answer in a document, as offsets in characters.

    text: the answer, ``document[start:end]``. sentence_start, sentence_end: offsets of the sentence that contains it.
    """

    document_id: str
    start: int
    end: int
    sentence_start: int
    sentence_end: int
    text: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that has not been checked yet.

    references: accepted answers; empty for an unanswerable question. places: locations of the answers; for an
    unanswerable question, those of the question that it is based on. answer_kind: kind of the answer, from
    generation.synthetic_questions.spans.KINDS. clause: the question's words from the verb on, if the answer is the
    subject of its sentence; else "". based_on: text of the question from which this one is derived; "" for none.
    writer: "rule" or the name of the model. parts: the two questions of which a two-passage question is composed.
    """

    text: str
    kind: QuestionKind
    references: tuple[str, ...]
    places: tuple[AnswerLocation, ...]
    answer_kind: str = ""
    clause: str = ""
    based_on: str = ""
    writer: str = "rule"
    parts: tuple[Candidate, ...] = ()

    @property
    def answerable(self) -> bool:
        """Whether the documents answer the question."""
        return self.kind != "unanswerable"
