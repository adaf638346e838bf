"""Use as evidence what is supplied with an answer: the contexts shown to its system, or its question's references.

Contexts show whether an answer is *faithful*, not whether it is true (docs/architecture.md, terms).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from data.questions import Question
from evaluation.verifiers.evidence import ClaimRequest, EvidenceText


@dataclass(frozen=True, slots=True)
class AnsweredQuestion(Question):
    """A question that another system answered. Its text may be empty, for example for a summary."""

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("a question's id must not be empty")


class ContextEvidence:
    """An EvidenceSource with given texts for each question. A question may represent a single answer."""

    def __init__(self, texts: Mapping[str, Sequence[str]], kind: str = "context") -> None:
        """Create the source.

        texts: texts by question ID. Those of a question are numbered from 1.
        kind: display name of a text, "context" or "reference".
        """
        self._kind = kind
        self._texts = {
            question: tuple(EvidenceText(f"{kind} {n}", text, 0) for n, text in enumerate(given, start=1))
            for question, given in texts.items()
        }

    @property
    def name(self) -> str:
        """``given contexts`` or ``given references``."""
        return f"given {self._kind}s"

    def evidence_for(self, requests: Sequence[ClaimRequest]) -> tuple[tuple[EvidenceText, ...], ...]:
        """Return the texts of each request's question, whatever the claim; empty for an unknown question."""
        return tuple(self._texts.get(r.question.id, ()) for r in requests)
