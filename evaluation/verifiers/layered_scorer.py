"""What scorers that stand in front of another one share: it measures texts, they decide what it is asked."""

from __future__ import annotations

from collections.abc import Sequence

from model.pairs.scoring import PairScorer, answer_tokens, languages_read


class ScorerInFront:
    """All of a PairScorer but ``name`` and ``score``. network: see ``without_reader``."""

    def __init__(self, scorer: PairScorer) -> None:
        self._scorer = scorer

    def room(self, claim: str, question: str = "") -> int:
        """The other's."""
        return self._scorer.room(claim, question)

    @property
    def answer_tokens(self) -> int:
        """The other's."""
        return answer_tokens(self._scorer)

    @property
    def languages(self) -> tuple[str, ...]:
        """The other's."""
        return languages_read(self._scorer)

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """The other's."""
        return self._scorer.count(texts)

    @property
    def behind(self) -> PairScorer:
        """The scorer whose scores this one changes."""
        return self._scorer

    @property
    def network(self) -> PairScorer:
        """What judges where no short answer is to be read."""
        return without_reader(self._scorer)


def without_reader(scorer: PairScorer) -> PairScorer:
    """What judges answers to questions that the documents do not answer: a scorer, or of one that reads short answers
    the network behind it. A reader that answered such a question was sure of what it said, and would say so again.
    """
    return scorer.network if isinstance(scorer, ScorerInFront) else scorer
