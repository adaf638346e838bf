"""A candidate question: text, reference answer and the evidence in the document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

QuestionKind = Literal["one_fact", "number", "list", "two_passage", "paraphrase", "unanswerable"]
KINDS: Final[tuple[QuestionKind, ...]] = ("one_fact", "number", "list", "two_passage", "paraphrase", "unanswerable")


@dataclass(frozen=True, slots=True)
class SourceText:
    """A document to generate questions from. title: may be empty."""

    document_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Place:
    """``text`` is ``document[start:end]``; the sentence around it is ``document[sentence_start:sentence_end]``."""

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
    unanswerable question, the closest passages. answer_kind: of generation.synthetic_questions.spans.KINDS. clause: the
    question's words from the verb on, without the question word, if the answer is the subject of its sentence; else
    empty. based_on: the question that this one was derived from. writer: "rule" or the model's name. parts: the
    single-passage questions that a two-passage question was composed of.
    """

    text: str
    kind: QuestionKind
    references: tuple[str, ...]
    places: tuple[Place, ...]
    answer_kind: str = ""
    clause: str = ""
    based_on: str = ""
    writer: str = "rule"
    parts: tuple[Candidate, ...] = ()

    @property
    def answerable(self) -> bool:
        """Whether the documents answer it."""
        return self.kind != "unanswerable"
