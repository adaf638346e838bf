"""Which verifier judges which question: references where there are some, entailment where there are none.

The route depends on the question alone, so that all arms of a question are judged by the same verifier (DESIGN.md 5.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from data.questions import Question
from evaluation.claims import Extraction
from evaluation.errors import EvaluationError
from evaluation.outcomes import Verdict
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.verifier import VerificationItem

_ROUTED, _ENTAILMENT = "routed/1", "entailment/"


def has_references(question: Question) -> bool:
    """Whether the question says what a right answer is: by references, or by being marked unanswerable."""
    return bool(question.references) or not question.answerable


def judged_by_entailment(verifier: str, question: Question) -> bool:
    """Whether the verifier of this name judges this question by entailment. For reading stored runs."""
    return verifier.startswith(_ENTAILMENT) or (verifier.startswith(_ROUTED) and not has_references(question))


class RoutedVerifier:
    """The reference verifier for questions that have references, the entailment verifier for the others."""

    def __init__(self, reference: ReferenceVerifier, entailment: EntailmentVerifier) -> None:
        """Raises EvaluationError when both names together are too long to store."""
        self._reference, self._entailment = reference, entailment
        self._name = f"{_ROUTED} {reference.name} | {entailment.name}"
        if len(self._name) > 255:
            raise EvaluationError(f"the verifier's name {self._name[:80]!r}... is longer than 255 characters")

    @property
    def name(self) -> str:
        """``routed/1 REFERENCE | ENTAILMENT``; every verdict carries it, whichever of the two gave it."""
        return self._name

    def extract(self, question: Question, completion: str) -> Extraction:
        """As the verifier of this question reads it."""
        return self._of(question).extract(question, completion)

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        """Verdicts of both, in the order given; each verifier is called once at most."""
        found: dict[int, tuple[Verdict, ...]] = {}
        for verifier in (self._reference, self._entailment):
            mine = [i for i, item in enumerate(items) if self._of(item.question) is verifier]
            if mine:
                found |= zip(mine, verifier.verify([items[i] for i in mine]), strict=True)
        return tuple(tuple(replace(v, verifier=self._name) for v in found[i]) for i in range(len(items)))

    def _of(self, question: Question) -> ReferenceVerifier | EntailmentVerifier:
        return self._reference if has_references(question) else self._entailment
