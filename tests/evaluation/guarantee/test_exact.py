"""The exact test and the number of labels that it needs, compared with scipy's binomial distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evaluation.errors import EvaluationError
from evaluation.guarantee.exact import answered_needed, exceedance_p_value, fewest_answered, labels_needed
from evaluation.guarantee.levels import share_of_delta


def test_p_value_is_the_binomial_distribution_function() -> None:
    k, n = np.array([0, 1, 5, 30]), np.array([29, 60, 60, 30])
    assert exceedance_p_value(k, n, 0.1) == pytest.approx(stats.binom.cdf(k, n, 0.1))
    assert float(exceedance_p_value(0, 0, 0.1)) == 1.0


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1, 0.3])
def test_size_at_the_boundary_is_at_most_delta(alpha: float) -> None:
    for n in (5, 29, 59, 200):
        k = np.arange(n + 1)
        rejected = exceedance_p_value(k, n, alpha) <= 0.05
        assert stats.binom.pmf(k, n, alpha)[rejected].sum() <= 0.05


@pytest.mark.parametrize(("alpha", "fewest"), [(0.05, 59), (0.10, 29), (0.20, 14), (0.01, 299), (0.5, 5)])
def test_fewest_answered_is_the_first_number_that_can_pass(alpha: float, fewest: int) -> None:
    assert fewest_answered(alpha, 0.05) == fewest
    assert float(exceedance_p_value(0, fewest, alpha)) <= 0.05 < float(exceedance_p_value(0, fewest - 1, alpha))


def test_fewest_answered_is_not_moved_by_rounding() -> None:
    assert fewest_answered(0.5, 0.25) == 2


@pytest.mark.parametrize(("rate", "alpha"), [(0.0, 0.1), (0.02, 0.1), (0.05, 0.1), (0.08, 0.1), (0.03, 0.05)])
def test_answered_needed_has_the_power_and_nothing_smaller_has(rate: float, alpha: float) -> None:
    def power(n: int) -> float:
        critical = np.arange(n + 1)[stats.binom.cdf(np.arange(n + 1), n, alpha) <= 0.05]
        return float(stats.binom.cdf(critical[-1], n, rate)) if critical.size else 0.0

    needed = answered_needed(rate, alpha, 0.05, 0.8)
    assert needed is not None and power(needed) >= 0.8
    assert all(power(n) < 0.8 for n in range(1, needed))


def test_a_rate_of_alpha_or_more_needs_more_labels_than_there_are() -> None:
    assert answered_needed(0.1, 0.1, 0.05) is None
    assert answered_needed(0.1 - 1e-9, 0.1, 0.05) is None
    assert labels_needed(0.05, 0.0, 0.1, 0.05) is None
    assert labels_needed(0.05, 0.5, 0.1, 0.05) == 2 * 179


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1.5, math.nan, math.inf])
def test_levels_outside_the_open_interval_are_refused_by_name(value: float) -> None:
    with pytest.raises(EvaluationError, match=r"alpha is"):
        fewest_answered(value, 0.05)
    with pytest.raises(EvaluationError, match=r"delta is"):
        share_of_delta(value, 2)


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(EvaluationError, match="3"):
        exceedance_p_value(4, 3, 0.1)
    with pytest.raises(EvaluationError, match="0"):
        share_of_delta(0.05, 0)
