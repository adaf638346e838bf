"""RM3 query expansion with weighted words of the top passages. It needs no language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rm3Params:
    """Parameters of RM3. The defaults are Anserini's.

    passages: number of feedback passages. words: number of expansion words. original: weight of the original query in
    [0, 1].
    """

    passages: int = 10
    words: int = 10
    original: float = 0.5

    def __post_init__(self) -> None:
        if self.passages < 1 or self.words < 1:
            raise ValueError(f"RM3 needs at least one passage and one word, not {self.passages} and {self.words}")
        if not 0 <= self.original <= 1:
            raise ValueError(f"RM3's weight of the original query must lie in [0, 1], not {self.original}")


def likelihood(words: Sequence[str]) -> dict[str, float]:
    """Return P(w | text) by maximum likelihood: the share of the text's words that are w."""
    return {word: count / len(words) for word, count in Counter(words).items()}


def relevance_model(passages: Sequence[Sequence[str]], scores: Sequence[float]) -> dict[str, float]:
    """Return P(w | R), the sum over passages of P(w | passage) P(passage | query).

    This is RM1 of Lavrenko and Croft, SIGIR 2001. P(passage | query) is the passage's share of the positive scores. The
    shares are equal if no score is positive.
    """
    positive = [max(score, 0.0) for score in scores]
    total = sum(positive)
    shares = [score / total for score in positive] if total > 0 else [1.0 / len(scores)] * len(scores)
    model: dict[str, float] = {}
    for words, share in zip(passages, shares, strict=True):
        for word, chance in likelihood(words).items():
            model[word] = model.get(word, 0.0) + share * chance
    return model


def rm3(
    query: Sequence[str], passages: Sequence[Sequence[str]], scores: Sequence[float], params: Rm3Params
) -> Mapping[str, float]:
    """Return the weights of the expanded query's words, original P(w | query) + (1 - original) P(w | R).

    Abdul-Jaleel et al., TREC 2004. R is truncated to its most probable words and renormalised; ties are resolved
    alphabetically. passages, scores: words and scores of the feedback passages; without them only the query's words
    are weighted.
    """
    own = likelihood(query)
    model = relevance_model(passages, scores) if passages else {}
    kept = sorted(model.items(), key=lambda item: (-item[1], item[0]))[: params.words]
    total = sum(weight for _, weight in kept)
    if not total:
        return own
    weights = {word: params.original * weight for word, weight in own.items()}
    for word, weight in kept:
        weights[word] = weights.get(word, 0.0) + (1.0 - params.original) * weight / total
    return weights
