"""Rules in front of a network: exchanged parts, denials and opposites are not supported, repeated words are.

A small network that compares texts hardly reads order and denial: it passes "Silver is cheaper than copper" on the
evidence that copper is cheaper than silver. The rules (evaluation.contrast) see that, and say nothing of anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evaluation.contrast.contrast import contrast
from evaluation.contrast.restated import restated
from evaluation.verifiers.layered_scorer import ScorerInFront, without_reader
from model.pairs.scoring import Pair, PairScorer

VERSION = 1
CONTRASTED = 0.05
"""Most that a claim gets which a rule objects to."""
RESTATED = 0.95
"""Least that a claim gets which repeats a sentence of its evidence."""
RULES = f"+rules:{VERSION}"
"""Ends the name of a scorer with these rules."""


class ContrastScorer(ScorerInFront):
    """A PairScorer in front of another one, whose scores the rules cap or lift."""

    def __init__(self, scorer: PairScorer) -> None:
        super().__init__(scorer)
        behind = without_reader(scorer)
        self._network: PairScorer = self if behind is scorer else ContrastScorer(behind)

    @property
    def name(self) -> str:
        """``OTHER+rules:VERSION``."""
        return f"{self._scorer.name}{RULES}"

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        """Support of each pair (see ``PairScorer.score``). Raises ModelError as the other does."""
        return tuple(
            _ruled(pair, score) for pair, score in zip(pairs, self._scorer.score(pairs, progress), strict=True)
        )

    @property
    def network(self) -> PairScorer:
        """What judges where no short answer is to be read: under the same rules."""
        return self._network


def _ruled(pair: Pair, score: float) -> float:
    if not 0.0 <= score <= 1.0:
        return score
    if score > CONTRASTED and contrast(pair.claim, pair.evidence):
        return CONTRASTED
    if score < RESTATED and restated(pair.claim, pair.evidence):
        return RESTATED
    return score
