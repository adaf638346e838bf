"""Correct the scores of a network by lexical rules for swapped parts, negations, antonyms and repetitions.

A small network is nearly insensitive to word order and negation. It supports "Silver is cheaper than copper" on
evidence that copper is cheaper than silver. The rules (evaluation.contrast) detect this and do not affect other pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evaluation.contrast.contrast import contrast
from evaluation.contrast.restated import restated
from evaluation.verifiers.layered_scorer import WrappingScorer, without_reader
from model.pairs.scoring import Pair, PairScorer

VERSION = 1
CONTRASTED = 0.05
"""Maximum support of a claim that a rule rejects."""
RESTATED = 0.95
"""Minimum support of a claim that repeats a sentence of its evidence."""
RULES = f"+rules:{VERSION}"
"""Suffix of the name of a scorer with these rules."""


class ContrastScorer(WrappingScorer):
    """A PairScorer that lowers or raises the scores of another one by rule."""

    def __init__(self, scorer: PairScorer) -> None:
        super().__init__(scorer)
        inner = without_reader(scorer)
        self._network: PairScorer = self if inner is scorer else ContrastScorer(inner)

    @property
    def name(self) -> str:
        """``OTHER+rules:VERSION``."""
        return f"{self._scorer.name}{RULES}"

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        """Return the support of each pair (see ``PairScorer.score``). Raises the errors of the wrapped scorer."""
        return tuple(
            _apply_rules(pair, score) for pair, score in zip(pairs, self._scorer.score(pairs, progress), strict=True)
        )

    @property
    def network(self) -> PairScorer:
        """The scorer without the reader of short answers, under the same rules."""
        return self._network


def _apply_rules(pair: Pair, score: float) -> float:
    if not 0.0 <= score <= 1.0:
        return score
    if score > CONTRASTED and contrast(pair.claim, pair.evidence):
        return CONTRASTED
    if score < RESTATED and restated(pair.claim, pair.evidence):
        return RESTATED
    return score
