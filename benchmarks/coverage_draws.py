"""Fast draws of data sets for coverage tables: a question's outcome is one of few states, and only their counts matter.

A question of m samples with a beta rate has 0..m events, a pair of arms (m + 1)^2 outcomes. The probability of each
state has a closed form, so a data set of N questions is one multinomial draw instead of N beta and N binomial draws,
with the same distribution. Does not depend on intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from evaluation.statistics.counts import Floats

States = NDArray[np.int64]
_MULTINOMIAL_STATES = 128
"""With more states than this, looking up every question is cheaper than counting each state."""


@dataclass(frozen=True, slots=True)
class PairModel:
    """Both arms share a question's own rate with probability `shared`; else each has its own.

    Then, with probability `fixed` (`broken`), only the first (the second) arm always hallucinates on that question.
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
        """Probabilities of j of `one` and k of `two` samples with the event: (one + 1, two + 1)."""
        independent = np.outer(events(one, self.rate, self.correlation), events(two, self.rate, self.correlation))
        together = shared_events(one, two, self.rate, self.correlation)
        result = (1.0 - self.fixed - self.broken) * (self.shared * together + (1.0 - self.shared) * independent)
        result[one, 0] += self.fixed
        result[0, two] += self.broken
        return result


def events(samples: int, rate: float, correlation: float) -> Floats:
    """Beta-binomial probabilities of 0..samples events, the question's rate beta with this mean: (samples + 1,).

    correlation: within a question; 0 gives one rate to all, 1 all or nothing.
    """
    return shared_events(samples, 0, rate, correlation)[:, 0]


def shared_events(one: int, two: int, rate: float, correlation: float) -> Floats:
    """Probabilities of j of `one` and k of `two` events when both have the question's rate: (one + 1, two + 1).

    C(one, j) C(two, k) B(alpha + j + k, beta + one + two - j - k) / B(alpha, beta).
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
    """(R, N) states, each of 0..S-1 with the probabilities (S,). Few states come in order within a data set."""
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
    """What m samples of a question may show if some abstain. answers, events: of each state, (S,)."""

    probabilities: Floats
    answers: Floats
    events: Floats


def answer_states(samples: int, answers: float, spread: float, rate: float, correlation: float) -> AnswerStates:
    """Some samples answer (rate `answers`, correlation `spread`), some of these have the event; independent rates."""
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
    """The same for two arms. Every array (S,): answers and events of the first arm, of the second."""

    probabilities: Floats
    answers: tuple[Floats, Floats]
    events: tuple[Floats, Floats]


def answer_pair_states(samples: int, model: PairModel, answers: float, spread: float) -> AnswerPairStates:
    """Both arms answer independently, however their event rates are correlated."""
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
