"""Intervals: simulated coverage, hand-computed limits at 0 and 1, and cases without limits."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.detection.intervals import (
    Draws,
    ScoreEstimate,
    error_estimate,
    mean_estimate,
    mean_of_ratios,
    rate_estimate,
    ratio_estimate,
    share_estimate,
    undefined,
)
from evaluation.detection.metrics import weighted_auroc


def test_draws_are_seeded_and_blocks_do_not_change_what_is_counted() -> None:
    draws = Draws(7, 3, 200)
    counts = draws.over(lambda drawn: drawn, 7)
    assert counts.shape == (200, 7)
    assert (counts.sum(axis=1) == 7).all()
    assert (counts == draws.over(lambda drawn: drawn, 7)).all()
    assert (counts == draws.over(lambda drawn: drawn, 2_000_000)).all()  # two rows per block
    assert (counts != Draws(7, 4, 200).over(lambda drawn: drawn, 7)).any()


@pytest.mark.parametrize("carrying", [1, 5, 40])
def test_at_the_ends_the_limit_is_clopper_pearsons(carrying: int) -> None:
    constant = np.ones(100)
    low = 0.025 ** (1 / carrying)
    assert share_estimate(1.0, constant, carrying, 50).lower == pytest.approx(low)
    assert share_estimate(0.0, 0 * constant, carrying, 50).upper == pytest.approx(1 - low)
    assert bool(share_estimate(1.0, constant, carrying, 50).reason) == (carrying < 10)


def test_one_group_has_no_limits_where_groups_are_resampled() -> None:
    for found in (share_estimate(0.7, np.full(9, 0.7), 1, 1), error_estimate(0.7, np.full(9, 0.7), 1)):
        assert (found.estimate, found.lower, found.upper) == (0.7, None, None)
        assert "one group" in found.reason


def test_resamples_that_do_not_differ_give_no_limits() -> None:
    """If all scores are tied, an interval would wrongly have zero width."""
    for found in (share_estimate(0.5, np.full(9, 0.5), 20, 30), error_estimate(0.0, np.zeros(9), 30)):
        assert (found.lower, found.upper) == (None, None) and found.estimate is not None
        assert "all resamples give the same figure" in found.reason


def test_one_group_has_next_to_no_information_in_a_ratio() -> None:
    found = ratio_estimate(np.array([3.0]), np.array([5.0]), 5.0)
    assert found.lower is not None and found.upper is not None
    assert found.upper - found.lower > 0.95
    both = mean_of_ratios((np.array([3.0]), np.array([5.0])), (np.array([5.0]), np.array([5.0])))
    assert both.lower is not None and both.lower < 0.31 < 0.8 == both.estimate


def test_estimates_say_why() -> None:
    assert undefined("because").reason == "because"
    for bad in ((None, None, None), (0.5, None, None), (0.5, 0.6, 0.7), (0.5, 0.4, None), (None, 0.1, 0.9)):
        with pytest.raises(ValueError, match=r"limits|why"):
            ScoreEstimate(*bad)


def test_a_mean_of_figures() -> None:
    one, two = ScoreEstimate(0.8, 0.7, 0.85), ScoreEstimate(0.6, 0.52, 0.8)
    found = mean_estimate([one, two])
    assert found.estimate == pytest.approx(0.7)
    assert found.lower == pytest.approx(0.7 - np.hypot(0.1, 0.08) / 2)
    assert found.upper == pytest.approx(0.7 + np.hypot(0.05, 0.2) / 2)
    assert mean_estimate([]).estimate is None
    assert mean_estimate([one, ScoreEstimate(0.6, None, None, "few")]).lower is None


def test_rates() -> None:
    found = rate_estimate([10] * 8, [0.5, 1.0] * 4, "pairs")
    assert found.estimate == pytest.approx(80 / 6)
    assert found.lower is not None and found.upper is not None
    assert 10 <= found.lower < 80 / 6 < found.upper <= 20
    assert rate_estimate([], [], "pairs").estimate is None
    few = rate_estimate([10], [2.0], "pairs")
    assert (few.estimate, few.lower) == (5.0, None)


def groups_of(rng: np.random.Generator, number: int, size: int, shared: float) -> tuple[np.ndarray, np.ndarray]:
    """Return sums of (number, size) Bernoulli draws and the group sizes.

    shared: how much the probabilities vary by group, in [0, 1].
    """
    chance = np.clip(0.7 + shared * (rng.random(number) - 0.5) * 0.6, 0, 1)
    drawn = rng.random((number, size)) < chance[:, None]
    return drawn.sum(axis=1).astype(float), np.full(number, float(size))


@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_the_mean_of_two_ratios_is_covered(shared: float) -> None:
    """600 simulated sets in which both shares are 0.7 and equal in each group; nominal coverage 95 %.

    A coverage of exactly 0.95 falls below 0.92 in 600 draws with probability 0.001.
    """
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(600):
        one = groups_of(rng, 40, 4, shared)
        mixed = one[0] if shared else groups_of(rng, 40, 4, 0.0)[0]  # worst case: the same groups are hard
        found = mean_of_ratios(one, (mixed, one[1]))
        assert found.lower is not None and found.upper is not None
        hits += found.lower <= 0.7 <= found.upper
    assert hits / 600 >= 0.92


def test_the_area_is_covered() -> None:
    """200 simulated sets of 60 groups of three; scores N(0, 1) and N(1, 1), AUROC = Phi(1 / sqrt 2) = 0.7602.

    Percentile limits cover 0.93 to 0.95 here. They fall below 0.88 in 200 draws with probability under 0.01.
    """
    rng = np.random.default_rng(11)
    hits = 0
    for run in range(200):
        group = np.repeat(np.arange(60), 3)
        supported = rng.random(180) < 0.5
        support = rng.normal(size=180) + supported
        replicates = Draws(60, run, 300).over(
            lambda c, s=support, y=supported, g=group: weighted_auroc(s, y, c[:, g]), 180
        )
        estimate = float(weighted_auroc(support, supported, np.ones((1, 180)))[0])
        found = share_estimate(estimate, replicates, 40, 60)
        assert found.lower is not None and found.upper is not None
        hits += found.lower <= 0.7602 <= found.upper
    assert hits / 200 >= 0.88
