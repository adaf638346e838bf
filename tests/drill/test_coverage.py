"""Coverage by simulation, smaller than benchmarks/coverage.py: the default intervals hold what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation.statistics.counts import Floats
from evaluation.statistics.intervals import effective_limits
from evaluation.statistics.paired import fixed_minus_broken_limits

pytestmark = pytest.mark.drill
REPLICATES = 4000
# Four Monte Carlo standard errors below the level: where coverage is exactly 95 %, a cell fails by chance with
# probability 3 in 100,000; over the 72 cells here about 1 in 450, and the seeds are fixed. Plain Korn-Graubard (0.90 at
# 20 questions, 8 samples, rate 0.05) and MOVER on the arms' own rates (0.64 at a difference of 0.02) both fail this.
LOWEST = 0.95 - 4.0 * math.sqrt(0.95 * 0.05 / REPLICATES)


def rates(rng: np.random.Generator, questions: int, rate: float, correlation: float) -> Floats:
    shape = (REPLICATES, questions)
    if correlation == 1.0:
        return (rng.random(shape) < rate).astype(np.float64)
    if correlation == 0.0:
        return np.full(shape, rate)
    k = 1.0 / correlation - 1.0
    return rng.beta(rate * k, (1.0 - rate) * k, shape)


@pytest.mark.parametrize("questions", [20, 200])
@pytest.mark.parametrize("samples", [2, 8])
@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("rate", [0.01, 0.05, 0.5, 0.95])
def test_rates(questions: int, samples: int, correlation: float, rate: float) -> None:
    rng = np.random.default_rng([questions, samples, int(10 * correlation), int(100 * rate)])
    h = rng.binomial(samples, rates(rng, questions, rate, correlation)) / samples
    limits = effective_limits(h, np.ones_like(h), float(questions * samples), 0.95)
    assert np.mean((limits.lower <= rate + 1e-12) & (rate <= limits.upper + 1e-12)) >= LOWEST


@pytest.mark.parametrize("questions", [20, 200])
@pytest.mark.parametrize("fixed", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("samples", [1, 8])
@pytest.mark.parametrize("common", [0.0, 0.5])
def test_rare_differences_between_arms_that_otherwise_agree(
    questions: int, fixed: float, samples: int, common: float
) -> None:
    rng = np.random.default_rng([questions, samples, int(100 * fixed), int(10 * common)])
    coin = rng.random((REPLICATES, questions))
    both = rng.random((REPLICATES, questions)) < common
    h1 = np.where(coin < fixed, 1.0, both)
    h2 = np.where(coin < fixed, 0.0, both)
    limits = fixed_minus_broken_limits(h1 * (1 - h2), h2 * (1 - h1), np.ones_like(h1), float(questions * samples), 0.95)
    assert np.mean((limits.lower <= fixed) & (fixed <= limits.upper)) >= LOWEST
