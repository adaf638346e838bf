"""Intervals of a rate: closed forms, limits of clustering, and properties that must hold for any data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from evaluation.statistics.counts import Floats
from evaluation.statistics.intervals import clustered_t_limits, effective_limits, linearised, ratio


def exact(events: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    interval = stats.binomtest(events, trials).proportion_ci(level, method="exact")
    return float(interval.low), float(interval.high)


@pytest.mark.parametrize("trials", [1, 2, 7, 20, 160])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_one_sample_a_question_is_clopper_pearson(trials: int, level: float) -> None:
    for events in {0, 1, trials // 3, trials - 1, trials}:
        h = np.array([1.0] * events + [0.0] * (trials - events))
        limits = effective_limits(h, np.ones(trials), float(trials), level)
        assert (float(limits.lower), float(limits.upper)) == pytest.approx(exact(events, trials, level), abs=1e-9)


def test_a_known_clopper_pearson_interval() -> None:
    # 10 of 100 at 95 %: [0.0490, 0.1762], the textbook value.
    h = np.array([1.0] * 10 + [0.0] * 90)
    limits = effective_limits(h, np.ones(100), 100.0, 0.95)
    assert float(limits.lower) == pytest.approx(0.0490, abs=5e-5)
    assert float(limits.upper) == pytest.approx(0.1762, abs=5e-5)


@pytest.mark.parametrize("samples", [2, 8])
def test_perfectly_correlated_samples_count_as_one(samples: int) -> None:
    h = np.array([1.0] * 6 + [0.0] * 24)
    limits = effective_limits(h, np.ones(30), 30.0 * samples, 0.95)
    assert (float(limits.lower), float(limits.upper)) == pytest.approx(exact(6, 30), abs=1e-9)
    assert float(limits.effective_size) == pytest.approx(30.0)


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_a_rate_of_zero_or_one_rests_on_the_number_of_questions(rate: float) -> None:
    limits = effective_limits(np.full(25, rate), np.ones(25), 200.0, 0.95)
    assert (float(limits.lower), float(limits.upper)) == pytest.approx(exact(int(25 * rate), 25), abs=1e-9)


def test_at_zero_answered_only_rests_on_the_questions_that_answered() -> None:
    answered = np.array([1.0] * 12 + [0.0] * 30)
    limits = effective_limits(np.zeros(42), answered, 12.0, 0.95)
    assert float(limits.upper) == pytest.approx(exact(0, 12)[1], abs=1e-9)
    half = effective_limits(np.zeros(42), answered / 2, 48.0, 0.95)
    assert float(half.upper) == pytest.approx(exact(0, 12)[1], abs=1e-9)


def test_independent_samples_are_worth_more_than_their_questions() -> None:
    rng = np.random.default_rng(5)
    h = rng.binomial(8, 0.4, 200) / 8
    limits = effective_limits(h, np.ones(200), 1600.0, 0.95)
    assert 200 < float(limits.effective_size) <= 1600
    assert float(limits.upper - limits.lower) < exact(80, 200)[1] - exact(80, 200)[0]


def test_the_capped_case_cannot_claim_more_than_all_responses() -> None:
    limits = effective_limits(np.full(50, 0.5), np.ones(50), 100.0, 0.95)
    low, high = exact(50, 100)
    assert float(limits.effective_size) <= 100.0
    assert float(limits.lower) <= low and float(limits.upper) >= high


def test_a_burst_is_not_many_independent_responses() -> None:
    # One of 8 responses to one of 20 questions. Plain Korn-Graubard takes that for 1 of 160 and stops at 0.037; yet
    # 1.5 bursts expected in 20 questions, half of them 1 of 8 and half all 8, is a rate of 0.042 that shows this or
    # less with probability 0.39.
    h = np.zeros(20)
    h[0] = 1 / 8
    limits = effective_limits(h, np.ones(20), 160.0, 0.95)
    assert float(limits.upper) > exact(0, 20)[1]


def test_clustered_t_is_the_textbook_interval_of_a_mean() -> None:
    h = np.array([0.0, 0.25, 0.5, 0.5, 1.0, 0.75])
    limits = clustered_t_limits(h, np.ones(6), 0.95)
    expected = stats.t.interval(0.95, 5, loc=h.mean(), scale=stats.sem(h))
    assert (float(limits.lower), float(limits.upper)) == pytest.approx(expected)


def test_linearised_errors_add_up_to_nothing_and_the_ratio_is_of_totals() -> None:
    h, a = np.array([1.0, 0.0, 0.5]), np.array([1.0, 1.0, 0.5])
    assert float(ratio(h, a)) == pytest.approx(1.5 / 2.5)
    assert linearised(h, a).sum() == pytest.approx(0.0, abs=1e-12)


def test_many_data_sets_at_once_are_the_same_as_one_by_one() -> None:
    rng = np.random.default_rng(1)
    h = rng.binomial(4, 0.3, (6, 15)) / 4
    together = effective_limits(h, np.ones_like(h), 60.0, 0.95)
    for i, row in enumerate(h):
        alone = effective_limits(row, np.ones(15), 60.0, 0.95)
        assert float(together.lower[i]) == pytest.approx(float(alone.lower))
        assert float(together.upper[i]) == pytest.approx(float(alone.upper))


counts = st.integers(1, 6).flatmap(
    lambda m: hnp.arrays(np.int64, st.integers(1, 25), elements=st.integers(0, m)).map(lambda h: (m, h))
)


@settings(max_examples=200, deadline=None)
@given(counts, st.sampled_from([0.8, 0.95, 0.999]))
def test_limits_are_ordered_positive_and_mirrored(case: tuple[int, Floats], level: float) -> None:
    m, full = case
    h, ones, n = full / m, np.ones(len(full)), float(m * len(full))
    limits = effective_limits(h, ones, n, level)
    rate = h.mean()
    assert 0 <= float(limits.lower) <= rate + 1e-12 and rate - 1e-12 <= float(limits.upper) <= 1
    assert float(limits.upper - limits.lower) > 0
    mirrored = effective_limits(1 - h, ones, n, level)
    assert float(mirrored.lower) == pytest.approx(1 - float(limits.upper), abs=1e-9)
    assert float(mirrored.upper) == pytest.approx(1 - float(limits.lower), abs=1e-9)
    shuffled = effective_limits(h[::-1].copy(), ones, n, level)
    assert float(shuffled.upper) == pytest.approx(float(limits.upper), abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda t: t[0] <= t[1]), min_size=1, max_size=25)
)
def test_limits_among_answers_are_ordered_and_never_of_zero_width(case: list[tuple[int, int]]) -> None:
    h, a = np.array([x / 4 for x, _ in case]), np.array([y / 4 for _, y in case])
    if a.sum() == 0:
        return
    limits = effective_limits(h, a, float(4 * a.sum()), 0.95)
    rate = float(ratio(h, a))
    assert 0 <= float(limits.lower) <= rate + 1e-12 and rate - 1e-12 <= float(limits.upper) <= 1
    assert float(limits.upper - limits.lower) > 0
