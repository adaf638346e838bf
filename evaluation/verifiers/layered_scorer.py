"""Base class of scorers that wrap another one: the inner scorer measures texts, the outer one chooses its input."""

from __future__ import annotations

from collections.abc import Sequence

from model.pairs.scoring import PairScorer, answer_tokens, languages_read


class ScorerInFront:
    """Implements PairScorer except ``name`` and ``score``. network: see ``without_reader``."""

    def __init__(self, scorer: PairScorer) -> None:
        self._scorer = scorer

    def room(self, claim: str, question: str = "") -> int:
        """As the inner scorer."""
        return self._scorer.room(claim, question)

    @property
    def answer_tokens(self) -> int:
        """As the inner scorer."""
        return answer_tokens(self._scorer)

    @property
    def languages(self) -> tuple[str, ...]:
        """As the inner scorer."""
        return languages_read(self._scorer)

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """As the inner scorer."""
        return self._scorer.count(texts)

    @property
    def inner(self) -> PairScorer:
        """The inner scorer."""
        return self._scorer

    @property
    def network(self) -> PairScorer:
        """The scorer without the reader of short answers."""
        return without_reader(self._scorer)


def without_reader(scorer: PairScorer) -> PairScorer:
    """The scorer for questions that the documents do not answer: without its reader of short answers, if it has one.

    A reader that answered such a question was certain of its answer, and would confirm it.
    """
    return scorer.network if isinstance(scorer, ScorerInFront) else scorer
