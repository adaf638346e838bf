"""Tests by betting: e-values of at most 1 on average, independence of order, power against clear differences."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.guarantee.betting import betting_p_value, clustered_p_value, log_e_value, question_means


def test_the_order_of_values_does_not_matter() -> None:
    values = np.random.default_rng(0).uniform(-0.9, 0.1, 200)
    assert float(log_e_value(values, 0.9)) == pytest.approx(float(log_e_value(np.sort(values), 0.9)))


def test_at_the_boundary_false_alarms_stay_below_delta() -> None:
    """4,000 sets of 120 clustered questions with r = alpha.

    Even for an exact test, more than 0.062 of them reject at 0.05 (3.5 standard errors) with probability below 0.0003.
    """
    rng = np.random.default_rng(1)
    rates = rng.beta(0.2, 1.8, (4000, 120))  # mean 0.1, very unlike
    wrong = rng.binomial(4, rates) / 4
    p = clustered_p_value(wrong, np.ones_like(wrong), 0.1)
    assert (p <= 0.05).mean() <= 0.062


def test_a_rate_far_below_alpha_is_seen() -> None:
    wrong = np.zeros(100)
    wrong[:2] = 1.0
    assert float(clustered_p_value(wrong, np.ones(100), 0.2)) < 0.01
    assert float(clustered_p_value(wrong, np.ones(100), 0.02)) > 0.5
    assert float(betting_p_value(np.array([]), 0.5)) == 1.0


def test_question_means_average_within_questions_only() -> None:
    means = question_means(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0, 0, 2, 2]))
    assert means.tolist() == [0.5, 1.0]


@pytest.mark.parametrize("worst", [0.0, -1.0, float("nan")])
def test_a_worst_value_that_is_none_is_refused(worst: float) -> None:
    with pytest.raises(EvaluationError, match="worst"):
        betting_p_value(np.zeros(3), worst)


def test_a_value_below_the_worst_is_refused() -> None:
    with pytest.raises(EvaluationError, match=r"-0\.7"):
        betting_p_value(np.array([0.1, -0.7]), 0.5)
