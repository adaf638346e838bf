"""What scorers that stand in front of another one share: it measures texts, they decide what it is asked."""

from __future__ import annotations

from collections.abc import Sequence

from model.pair_scoring import PairScorer, answer_tokens


class ScorerInFront:
    """All of a PairScorer but ``name`` and ``score``."""

    def __init__(self, scorer: PairScorer) -> None:
        self._scorer = scorer

    def room(self, claim: str, question: str = "") -> int:
        """The other's."""
        return self._scorer.room(claim, question)

    @property
    def answer_tokens(self) -> int:
        """The other's."""
        return answer_tokens(self._scorer)

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """The other's."""
        return self._scorer.count(texts)
