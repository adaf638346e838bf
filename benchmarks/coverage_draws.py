"""Fast draws of data sets for coverage tables: a question has one of few outcomes, and only their counts matter.

A question of m samples with a beta rate has 0..m events; a pair of arms has (m + 1)^2 outcomes. The probability of each
outcome has a closed form. A data set of N questions is therefore one multinomial draw with the same distribution as N
beta and N binomial draws. This module does not depend on intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from evaluation.statistics.counts import Floats

States = NDArray[np.int64]
_MULTINOMIAL_STATES = 128
"""Maximum number of outcomes for the multinomial draw; with more, searching for the outcome of each question is
cheaper.
"""


@dataclass(frozen=True, slots=True)
class PairModel:
    """Two arms. They share a question's rate with probability `shared`; otherwise each arm has its own rate.

    With probability `fixed` only the first arm hallucinates on a question, always; with probability `broken` only the
    second.
    """

    rate: float
    correlation: float
    shared: float
    fixed: float = 0.0
    broken: float = 0.0

    def __str__(self) -> str:
        latent = f"rate {self.rate}, correlation {self.correlation}, shared {self.shared}"
        return f"{latent}, fixed {self.fixed}, broken {self.broken}"

    def outcomes(self, one: int, two: int) -> Floats:
        """Return the probabilities of j events in `one` and k events in `two` samples: (one + 1, two + 1)."""
        independent = np.outer(events(one, self.rate, self.correlation), events(two, self.rate, self.correlation))
        together = shared_events(one, two, self.rate, self.correlation)
        result = (1.0 - self.fixed - self.broken) * (self.shared * together + (1.0 - self.shared) * independent)
        result[one, 0] += self.fixed
        result[0, two] += self.broken
        return result


def events(samples: int, rate: float, correlation: float) -> Floats:
    """Return beta-binomial probabilities of 0..samples events: (samples + 1,).

    rate: mean of the question's beta rate.
    correlation: correlation within a question. 0 gives all questions one rate; 1 gives all samples of a question one
    outcome.
    """
    return shared_events(samples, 0, rate, correlation)[:, 0]


def shared_events(one: int, two: int, rate: float, correlation: float) -> Floats:
    """Return probabilities of j of `one` and k of `two` events if both arms have the question's rate: (one + 1, two +
    1).

    The formula is C(one, j) C(two, k) B(alpha + j + k, beta + one + two - j - k) / B(alpha, beta).
    """
    j, k = np.arange(one + 1)[:, None], np.arange(two + 1)[None, :]
    ways = special.comb(one, j) * special.comb(two, k)
    both, rest = j + k, one + two - j - k
    if rate in (0.0, 1.0) or correlation == 0.0:
        return np.asarray(ways * rate**both * (1.0 - rate) ** rest)
    if correlation == 1.0:
        return np.asarray(np.where(rest == 0, rate, 0.0) + np.where(both == 0, 1.0 - rate, 0.0))
    size = 1.0 / correlation - 1.0
    alpha, beta = rate * size, (1.0 - rate) * size
    return np.asarray(ways * np.exp(special.betaln(alpha + both, beta + rest) - special.betaln(alpha, beta)))


def draw_states(rng: np.random.Generator, shape: tuple[int, int], probabilities: Floats) -> States:
    """Draw (R, N) states, each in 0..S-1, with probabilities (S,). If S is small, the states of a data set are
    sorted.
    """
    chances = probabilities / probabilities.sum()
    if chances.size > _MULTINOMIAL_STATES:
        edges = np.cumsum(chances)
        return np.minimum(np.searchsorted(edges, rng.random(shape), side="right"), chances.size - 1)
    replicates, questions = shape
    counts = rng.multinomial(questions, chances, size=replicates)
    states = np.tile(np.arange(chances.size), replicates)
    return np.repeat(states, counts.ravel()).reshape(shape)


@dataclass(frozen=True, slots=True)
class AnswerStates:
    """Outcomes of the samples of a question if some abstain. answers, events: numbers in each outcome, (S,)."""

    probabilities: Floats
    answers: Floats
    events: Floats


def answer_states(samples: int, answers: float, spread: float, rate: float, correlation: float) -> AnswerStates:
    """Return the outcomes of a question. Samples answer with rate `answers` and correlation `spread`. Answers have the
    event with rate `rate` and correlation `correlation`, independently.
    """
    predicted = events(samples, answers, spread)
    chances, a, h = [], [], []
    for count in range(samples + 1):
        truth = events(count, rate, correlation)
        chances.append(predicted[count] * truth)
        a.append(np.full(count + 1, float(count)))
        h.append(np.arange(count + 1.0))
    return AnswerStates(np.concatenate(chances), np.concatenate(a), np.concatenate(h))


@dataclass(frozen=True, slots=True)
class AnswerPairStates:
    """Outcomes of the samples of a question in two arms. answers, events: numbers of the first and of the second arm,
    each (S,).
    """

    probabilities: Floats
    answers: tuple[Floats, Floats]
    events: tuple[Floats, Floats]


def answer_pair_states(samples: int, model: PairModel, answers: float, spread: float) -> AnswerPairStates:
    """Return the outcomes of a question in two arms. The arms answer independently; `model` correlates their event
    rates.
    """
    predicted = events(samples, answers, spread)
    chances, a, b, h, g = [], [], [], [], []
    for one in range(samples + 1):
        for two in range(samples + 1):
            truth = predicted[one] * predicted[two] * model.outcomes(one, two)
            j, k = np.indices(truth.shape)
            chances.append(truth.ravel())
            a.append(np.full(truth.size, float(one)))
            b.append(np.full(truth.size, float(two)))
            h.append(j.ravel() * 1.0)
            g.append(k.ravel() * 1.0)
    return AnswerPairStates(
        np.concatenate(chances), (np.concatenate(a), np.concatenate(b)), (np.concatenate(h), np.concatenate(g))
    )
