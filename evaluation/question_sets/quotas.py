"""Compute the number of questions of each kind in a set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from evaluation.errors import EvaluationError
from generation.question_sets.candidate import QuestionKind


@dataclass(frozen=True, slots=True)
class KindShares:
    """Relative weights of the kinds of questions. Their sum need not be 1."""

    one_fact: float = 0.34
    number: float = 0.14
    list: float = 0.04
    two_passage: float = 0.10
    paraphrase: float = 0.18
    unanswerable: float = 0.20

    def __post_init__(self) -> None:
        """Raise EvaluationError for weights that are negative or all zero."""
        weights = [getattr(self, f.name) for f in fields(self)]
        if min(weights) < 0 or sum(weights) <= 0:
            raise EvaluationError(
                f"the weights of the kinds are {weights}: none may be negative, and one must be above 0"
            )

    @property
    def weights(self) -> dict[QuestionKind, float]:
        """Weights by kind."""
        return {
            "one_fact": self.one_fact,
            "number": self.number,
            "list": self.list,
            "two_passage": self.two_passage,
            "paraphrase": self.paraphrase,
            "unanswerable": self.unanswerable,
        }


def quotas(n: int, shares: Mapping[QuestionKind, float]) -> dict[QuestionKind, int]:
    """Return integers that add up to n in proportion to the shares, by largest remainders.

    The number of unanswerable questions is rounded up, so their share is never below the requested one.
    """
    total = sum(shares.values())
    exact = {kind: n * weight / total for kind, weight in shares.items()}
    counts: dict[QuestionKind, int] = {kind: int(value) for kind, value in exact.items()}
    order = sorted(
        exact, key=lambda kind: (kind != "unanswerable" or exact[kind] == counts[kind], counts[kind] - exact[kind])
    )
    for kind in order[: n - sum(counts.values())]:
        counts[kind] += 1
    return counts
