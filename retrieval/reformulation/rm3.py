"""RM3 query expansion with weighted words of the top passages. Pure functions, no language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rm3Params:
    """passages: number of feedback passages. words: number of expansion words. original: weight of the original query.

    The defaults are Anserini's (10, 10, 0.5).
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
    """P(w | text) by maximum likelihood: the share of the text's words that are w. Empty without words."""
    return {word: count / len(words) for word, count in Counter(words).items()}


def relevance_model(passages: Sequence[Sequence[str]], scores: Sequence[float]) -> dict[str, float]:
    """P(w | R) = sum over passages of P(w | passage) P(passage | query): RM1, Lavrenko and Croft, SIGIR 2001.

    P(passage | query) is the passage's share of the scores, with a uniform prior; equal shares if no score is positive.
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
    """original P(w | query) + (1 - original) P(w | R), R truncated to its likeliest words: Abdul-Jaleel et al., TREC
    2004.

    The truncated model is renormalised. Ties between words are alphabetical. Without feedback passages the query is
    unchanged.
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
