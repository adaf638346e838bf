"""Differences of arms: published numbers, what rare differences do, and symmetry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.statistics.counts import Floats
from evaluation.statistics.intervals import effective_limits
from evaluation.statistics.measure import Resampler, Settings
from evaluation.statistics.paired import (
    correlation,
    fixed_minus_broken_limits,
    measure_fixed_minus_broken,
    measure_ratio_difference,
    mover,
    ratio_difference_limits,
)


def number(value: float) -> Floats:
    return np.array(value)


def wilson(events: int, trials: int) -> tuple[float, float]:
    interval = stats.binomtest(events, trials).proportion_ci(0.95, method="wilson")
    return float(interval.low), float(interval.high)


def test_mover_gives_newcombes_published_interval() -> None:
    # Newcombe 1998 (Statistics in Medicine 17, 873-890), 56/70 against 48/80: method 10, Wilson limits of each, here
    # unpaired (correlation 0), is [0.0524, 0.3339].
    (l1, u1), (l2, u2) = wilson(56, 70), wilson(48, 80)
    limits = mover(*(number(v) for v in (56 / 70, l1, u1, 48 / 80, l2, u2, 0.0)))
    assert float(limits.lower) == pytest.approx(0.0524, abs=1e-4)
    assert float(limits.upper) == pytest.approx(0.3339, abs=1e-4)


def test_correlation_is_pearsons_and_zero_for_a_constant() -> None:
    x, y = np.array([0.0, 1.0, 0.5, 0.25]), np.array([1.0, 0.5, 0.0, 0.25])
    assert float(correlation(x, y)) == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert float(correlation(x, np.ones(4))) == 0.0


def limits_of(h1: Floats, h2: Floats, responses: float) -> tuple[float, float]:
    limits = fixed_minus_broken_limits(h1 * (1 - h2), h2 * (1 - h1), np.ones(len(h1)), responses, 0.95)
    return float(limits.lower), float(limits.upper)


@pytest.mark.parametrize("both", [0.0, 0.5, 1.0])
def test_arms_that_never_differ_may_differ_on_questions_not_asked(both: float) -> None:
    # 0 of 20 discordant leaves room for 16.8 % one way (Clopper-Pearson), however often both hallucinate.
    h = np.array([1.0] * int(20 * both) + [0.0] * (20 - int(20 * both)))
    upper = stats.binomtest(0, 20).proportion_ci(0.95, method="exact").high
    assert limits_of(h, h, 20.0) == pytest.approx((-upper, upper), abs=1e-9)


def test_a_one_sided_difference_is_that_of_its_fixed_questions() -> None:
    h1, h2 = np.array([1.0] * 4 + [0.0] * 26), np.zeros(30)
    exact = stats.binomtest(4, 30).proportion_ci(0.95, method="exact")
    lower, upper = limits_of(h1, h2, 30.0)
    assert lower <= exact.low and upper >= exact.high - 1e-9


shares = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=25)


@settings(max_examples=150, deadline=None)
@given(shares)
def test_swapping_the_arms_negates_the_difference(case: list[tuple[int, int]]) -> None:
    h1, h2 = np.array([x for x, _ in case]) / 4, np.array([y for _, y in case]) / 4
    lower, upper = limits_of(h1, h2, 4.0 * len(case))
    assert -1 <= lower <= h1.mean() - h2.mean() + 1e-12
    assert h1.mean() - h2.mean() - 1e-12 <= upper <= 1
    assert upper - lower > 0
    assert limits_of(h2, h1, 4.0 * len(case)) == pytest.approx((-upper, -lower), abs=1e-9)


@settings(max_examples=75, deadline=None)
@given(shares)
def test_swapping_the_arms_negates_the_difference_among_answers(case: list[tuple[int, int]]) -> None:
    a1 = np.array([max(x, 1) for x, _ in case]) / 4
    a2 = np.array([max(y, 1) for _, y in case]) / 4
    h1, h2 = np.minimum(a1, a2[::-1]), np.minimum(a2, a1[::-1])
    n1, n2 = 4 * a1.sum(), 4 * a2.sum()
    one = ratio_difference_limits(h1, a1, n1, h2, a2, n2, 0.95)
    two = ratio_difference_limits(h2, a2, n2, h1, a1, n1, 0.95)
    assert float(one.lower) == pytest.approx(-float(two.upper), abs=1e-9)
    assert float(one.upper) == pytest.approx(-float(two.lower), abs=1e-9)
    assert float(one.upper - one.lower) > 0


def test_measured_difference_agrees_with_the_paired_t_test() -> None:
    rng = np.random.default_rng(2)
    h1, h2 = rng.binomial(1, 0.6, 80) * 1.0, rng.binomial(1, 0.3, 80) * 1.0
    m = measure_fixed_minus_broken(h1 * (1 - h2), h2 * (1 - h1), np.ones(80), 160, 80.0, Resampler(Settings()))
    expected = stats.ttest_rel(h1, h2).confidence_interval(0.95)
    assert (m.clustered_t.lower, m.clustered_t.upper) == pytest.approx((expected.low, expected.high))
    assert m.clustered_t.reliable and m.bca.reliable and m.default.method == "mover"
    assert m.bca.lower is not None and m.bca.upper is not None
    assert m.bca.lower == pytest.approx(expected.low, abs=0.05)
    assert m.bca.upper == pytest.approx(expected.high, abs=0.05)


def test_ratio_difference_is_the_plain_one_when_all_answer() -> None:
    rng = np.random.default_rng(3)
    h1, h2, ones = rng.binomial(4, 0.6, 60) / 4, rng.binomial(4, 0.5, 60) / 4, np.ones(60)
    resampler = Resampler(Settings())
    ours = measure_ratio_difference(h1, ones, h2, ones, 240, 240, resampler)
    plain = measure_fixed_minus_broken(h1 * (1 - h2), h2 * (1 - h1), ones, 480, 240.0, resampler)
    assert ours.default.rate == pytest.approx(plain.default.rate)
    assert ours.clustered_t.lower == pytest.approx(plain.clustered_t.lower)
    assert ours.bca.upper == pytest.approx(plain.bca.upper)


def test_answering_less_often_is_no_difference_that_may_narrow_the_interval() -> None:
    rate = np.repeat([0.0, 1.0], 40)  # in both arms, wherever they answer
    a1, a2 = np.tile([1.0, 0.5], 40), np.tile([0.5, 1.0], 40)
    found = ratio_difference_limits(rate * a1, a1, 120.0, rate * a2, a2, 120.0, 0.95)
    one, two = effective_limits(rate * a1, a1, 120.0, 0.95), effective_limits(rate * a2, a2, 120.0, 0.95)
    half = number(0.5)
    independent = mover(half, one.lower, one.upper, half, two.lower, two.upper, number(0.0))
    assert (found.lower, found.upper) == (independent.lower, independent.upper)
    # Where outcomes differ on 20 questions their correlation counts again.
    rate2 = np.where(np.arange(80) % 4 == 0, 1.0 - rate, rate)
    nearer = ratio_difference_limits(rate * a1, a1, 120.0, rate2 * a2, a2, 120.0, 0.95)
    assert nearer.upper - nearer.lower < independent.upper - independent.lower


def test_few_differences_are_flagged() -> None:
    h1, h2 = np.array([1.0] * 9 + [0.0] * 41), np.zeros(50)
    m = measure_fixed_minus_broken(h1, np.zeros(50), np.ones(50), 100, 50.0, Resampler(Settings()))
    assert not m.clustered_t.reliable and "9 questions" in m.clustered_t.reason
    assert m.default.reliable and h2.sum() == 0
