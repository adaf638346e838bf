"""Evidence that came with an answer: the contexts its system was shown, or the references of its question.

Judged by contexts an answer is *faithful* or not; whether the contexts are true is another question
(docs/architecture.md, terms).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from data.questions import Question
from evaluation.verifiers.evidence import ClaimRequest, EvidenceText


@dataclass(frozen=True, slots=True)
class AnsweredQuestion(Question):
    """A question that was answered elsewhere. Unlike one that is to be asked it may have no text: a summary's."""

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("a question's id must not be empty")


class ContextEvidence:
    """An EvidenceSource that holds each question's texts. One question may stand for one answer."""

    def __init__(self, texts: Mapping[str, Sequence[str]], kind: str = "context") -> None:
        """texts: by question id. kind: what a text is called, "context" or "reference"; they are counted from 1."""
        self._kind = kind
        self._texts = {
            question: tuple(EvidenceText(f"{kind} {n}", text, 0) for n, text in enumerate(held, start=1))
            for question, held in texts.items()
        }

    @property
    def name(self) -> str:
        """``given contexts``, ``given references``."""
        return f"given {self._kind}s"

    def evidence_for(self, requests: Sequence[ClaimRequest]) -> tuple[tuple[EvidenceText, ...], ...]:
        """The texts of each request's question, whatever the claim; empty for one that is not known."""
        return tuple(self._texts.get(r.question.id, ()) for r in requests)
