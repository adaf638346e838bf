"""Entailment model for signals that scores each pair of texts once."""

from __future__ import annotations

from collections.abc import Sequence

from model.pairs.scoring import Pair, PairScorer

THRESHOLD = 0.5


class CachedEntailment:
    """A pair scorer with a cache. The scorer truncates texts that are longer than its window."""

    def __init__(self, scorer: PairScorer, threshold: float = THRESHOLD) -> None:
        self._scorer, self._threshold = scorer, threshold
        self._known: dict[tuple[str, str], float] = {}

    @property
    def name(self) -> str:
        """The scorer's name and the threshold."""
        return f"{self._scorer.name} >={self._threshold:g}"

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the support of each statement by its text, in [0, 1], for (text, statement) pairs.

        Raises the errors of the scorer.
        """
        new = [p for p in dict.fromkeys(pairs) if p not in self._known and _has_content(p[1])]
        scores = self._scorer.score([Pair(text, statement) for text, statement in new]) if new else ()
        self._known.update(zip(new, (float(s) for s in scores), strict=True))
        return [self._known.get(pair, 0.0) for pair in pairs]

    def entails(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Return for each (premise, hypothesis) whether the support reaches the threshold."""
        return [support >= self._threshold for support in self.supports(pairs)]


def _has_content(text: str) -> bool:
    """Return whether a text has a letter or digit. Scorers reject a claim without one, so nothing supports it."""
    return any(c.isalnum() for c in text)
