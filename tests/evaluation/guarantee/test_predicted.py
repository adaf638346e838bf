"""Draws by uncertainty and prediction-powered tests: probabilities, unbiasedness, false alarms, power."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.guarantee.active import active_probabilities, draw, uncertainty
from evaluation.guarantee.predicted import active_p_value, uniform_p_value, weighted_mean, weighted_values


def test_probabilities_add_up_rise_with_uncertainty_and_keep_the_floor() -> None:
    predicted = np.random.default_rng(0).random(500)
    for labels in (1, 50, 250, 499, 500):
        pi = active_probabilities(predicted, labels)
        assert pi.sum() == pytest.approx(labels)
        assert pi.min() >= 0.5 * labels / 500 - 1e-12 and pi.max() <= 1.0
        assert np.all(np.diff(pi[np.argsort(uncertainty(predicted))]) >= -1e-12)
    assert active_probabilities(np.array([0.0, 1.0]), 1) == pytest.approx([0.5, 0.5])
    assert active_probabilities(np.array([0.0, 0.5, 0.0, 0.0]), 3).sum() == pytest.approx(3)
    assert uncertainty(np.array([0.0, 0.05, 1.0])) == pytest.approx(uncertainty(np.full(3, 0.05)))
    assert active_probabilities(predicted, 50, 1.0) == pytest.approx(np.full(500, 0.1))


@pytest.mark.parametrize(("labels", "floor"), [(0, 0.5), (11, 0.5), (5, 0.0), (5, 1.5)])
def test_draws_that_cannot_be(labels: int, floor: float) -> None:
    with pytest.raises(EvaluationError):
        active_probabilities(np.full(10, 0.3), labels, floor)
    with pytest.raises(EvaluationError, match=r"1\.5"):
        uncertainty(np.array([1.5]))


def test_weighted_values_are_unbiased_whatever_the_verifier_says() -> None:
    """Means of 4,000 draws of 60 questions. The bound of 4.5 standard errors is exceeded by chance once in 100,000."""
    rng = np.random.default_rng(1)
    truth = (rng.random(60) < 0.3) * 1.0
    for predicted in (truth, 1.0 - truth, np.full(60, 0.5), rng.random(60)):
        pi = active_probabilities(predicted, 20)
        drawn = rng.random((4000, 60)) < pi
        for weight in (0.0, 0.5, 1.0):
            means = weighted_values(truth, predicted, drawn, pi, weight).mean(axis=1)
            assert abs(means.mean() - truth.mean()) < 4.5 * means.std() / np.sqrt(4000) + 1e-12


def test_a_draw_depends_on_its_seed_alone() -> None:
    pi = active_probabilities(np.random.default_rng(0).random(200), 50)
    assert draw(pi, 3).tolist() == draw(pi, 3).tolist() != draw(pi, 4).tolist()


@pytest.mark.parametrize("helpful", [True, False])
def test_at_the_boundary_false_alarms_stay_below_delta(helpful: bool) -> None:
    """2,000 data sets with r = alpha.

    Even for an exact test, more than 0.07 of them reject at 0.05 (4 standard errors) with probability below 0.00005.
    """
    rng = np.random.default_rng(2)
    alpha, shape = 0.2, (2000, 400)
    score = rng.random(shape)
    rate = 0.4 * (1.0 - score) if helpful else np.full(shape, alpha)
    wrong = (rng.random(shape) < rate) * 1.0
    guess = alpha - (0.4 * (1.0 - score) if helpful else score)
    pi = np.clip(0.1 + 0.3 * (1.0 - score), 0.1, 1.0)
    drawn = (rng.random(shape) < pi) * 1.0
    gain = alpha - wrong
    assert (active_p_value(gain, guess, drawn, pi, alpha) <= 0.05).mean() <= 0.07
    p = uniform_p_value(gain[:, :100], guess[:, :100], guess[:, 100:], alpha)
    assert (p <= 0.05).mean() <= 0.07


def test_a_perfect_verifier_certifies_with_fewer_labels() -> None:
    rng = np.random.default_rng(3)
    alpha = 0.2
    wrong = (rng.random(2100) < 0.12) * 1.0
    gain = alpha - wrong
    alone = uniform_p_value(gain[:100], np.zeros(100), np.zeros(2000), alpha)
    helped = uniform_p_value(gain[:100], gain[:100], gain[100:], alpha)
    assert float(helped) < 0.05 < float(alone)


def test_the_interval_is_called_asymptotic_and_needs_some_labels() -> None:
    rng = np.random.default_rng(4)
    truth, pi = (rng.random(400) < 0.3) * 1.0, np.full(400, 0.25)
    drawn = (rng.random(400) < pi) * 1.0
    alone = weighted_mean(truth, np.zeros(400), drawn, pi)
    perfect = weighted_mean(truth, truth, drawn, pi)
    assert alone.mean == pytest.approx(truth[drawn > 0].mean()) and alone.method == "asymptotic"
    assert alone.lower < truth.mean() < alone.upper
    assert (
        perfect.mean == pytest.approx(truth.mean(), abs=0.01)
        and perfect.upper - perfect.lower < alone.upper - alone.lower
    )
    with pytest.raises(EvaluationError, match="1 labels"):
        weighted_mean(np.ones(4), np.ones(4), np.array([1.0, 0, 0, 0]), np.ones(4))
    with pytest.raises(EvaluationError, match=r"0\.0"):
        weighted_mean(np.ones(2), np.ones(2), np.ones(2), np.zeros(2))
    with pytest.raises(EvaluationError, match="3 labelled and 2 unlabelled"):
        uniform_p_value(np.zeros(3), np.zeros(3), np.zeros(2), 0.1)
