"""Define the base class of scorers that wrap another scorer."""

from __future__ import annotations

from collections.abc import Sequence

from model.pairs.scoring import PairScorer, answer_tokens, languages_read


class WrappingScorer:
    """Base class of a PairScorer that wraps an inner one.

    It passes everything except ``name`` and ``score`` on to the inner scorer.
    """

    def __init__(self, scorer: PairScorer) -> None:
        self._scorer = scorer

    def room(self, claim: str, question: str = "") -> int:
        """Return the room that the inner scorer reports (see ``PairScorer.room``)."""
        return self._scorer.room(claim, question)

    @property
    def answer_tokens(self) -> int:
        """Value of the inner scorer."""
        return answer_tokens(self._scorer)

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages that the inner scorer reads."""
        return languages_read(self._scorer)

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the lengths that the inner scorer counts (see ``PairScorer.count``)."""
        return self._scorer.count(texts)

    @property
    def inner(self) -> PairScorer:
        """The inner scorer."""
        return self._scorer

    @property
    def network(self) -> PairScorer:
        """The scorer without the reader of short answers (see ``without_reader``)."""
        return without_reader(self._scorer)


def without_reader(scorer: PairScorer) -> PairScorer:
    """Return the scorer without its reader of short answers, for questions that the documents do not answer.

    A reader that answers such a question is confident in its answer and would confirm it.
    """
    return scorer.network if isinstance(scorer, WrappingScorer) else scorer
