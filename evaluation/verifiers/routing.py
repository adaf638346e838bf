"""Which verifier judges which question: references where there are some, entailment where there are none.

The route depends on the question alone, so that all arms of a question are judged by the same verifier (DESIGN.md 5.1).
A question with neither references nor an answer in the documents is judged by what each arm was shown, and stands in no
difference between arms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from data.questions import Question
from evaluation.claims import Extraction
from evaluation.errors import EvaluationError
from evaluation.outcomes import Verdict
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.faithful import FaithfulVerifier, nothing_else_judges
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.verifier import VerificationItem

_ROUTED, _FAITHFUL, _ENTAILMENT = "routed/1", "routed/2", "entailment/"


def has_references(question: Question) -> bool:
    """Whether the question says what a right answer is: by references, or by being marked unanswerable."""
    return bool(question.references) or not question.answerable


def judged_by_entailment(verifier: str, question: Question) -> bool:
    """Whether the verifier of this name judges this question by entailment. For reading stored runs."""
    routed = verifier.startswith((_ROUTED, _FAITHFUL))
    return verifier.startswith(_ENTAILMENT) or (routed and not has_references(question))


def stands_apart(verifier: str, question: Question) -> bool:
    """Whether the verifier of this name judges this question by what each arm was shown, so that it is part of no
    difference between arms. For reading stored runs."""
    return verifier.startswith(_FAITHFUL) and nothing_else_judges(question)


class RoutedVerifier:
    """The reference verifier for questions that have references, the entailment verifier for the others, and the
    faithful one, where there is one, for those that nothing else judges."""

    def __init__(
        self,
        reference: ReferenceVerifier,
        entailment: EntailmentVerifier | None,
        faithful: FaithfulVerifier | None = None,
    ) -> None:
        """entailment: None where no question needs it; one that does is then unscored. Raises EvaluationError when the
        names together are too long to store.
        """
        self._reference, self._entailment, self._faithful = reference, entailment, faithful
        parts = [reference.name, *([entailment.name] if entailment else [])]
        if faithful is not None:
            # Beside entailment it has the same threshold and scorer, or of one that reads short answers its network, as
            # that one's name implies; and there is no room to name them twice.
            parts.append("faithful" if entailment else faithful.name)
        self._name = f"{_FAITHFUL if faithful else _ROUTED} {' | '.join(parts)}"
        if len(self._name) > 255:
            raise EvaluationError(f"the verifier's name {self._name[:80]!r}... is longer than 255 characters")

    @property
    def name(self) -> str:
        """``routed/1 REFERENCE | ENTAILMENT``, or ``routed/2 ... | FAITHFUL``; every verdict carries it, whoever gave
        it."""
        return self._name

    def extract(self, question: Question, completion: str) -> Extraction:
        """As the verifier of this question reads it."""
        return self._of(question).extract(question, completion)

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        """Verdicts of all, in the order given; each verifier is called once at most."""
        found: dict[int, tuple[Verdict, ...]] = {}
        for verifier in (self._reference, self._entailment, self._faithful):
            if verifier is None:
                continue
            mine = [i for i, item in enumerate(items) if self._of(item.question) is verifier]
            if mine:
                found |= zip(mine, verifier.verify([items[i] for i in mine]), strict=True)
        return tuple(tuple(replace(v, verifier=self._name) for v in found[i]) for i in range(len(items)))

    def _of(self, question: Question) -> ReferenceVerifier | EntailmentVerifier | FaithfulVerifier:
        if self._faithful is not None and nothing_else_judges(question):
            return self._faithful
        return self._reference if has_references(question) or self._entailment is None else self._entailment
