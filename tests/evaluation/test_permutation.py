"""The sign-flip test against full enumeration, its level, and Holm's correction."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.statistics.permutation import holm, sign_flip_test


def test_p_is_that_of_all_sign_patterns() -> None:
    d = np.array([0.5, 0.25, 1.0, -0.25, 0.75, 0.5, 0.0, 1.0])
    flips = np.array(list(itertools.product((-1.0, 1.0), repeat=8)))
    exact = np.mean(np.abs(flips @ d) >= abs(d.sum()) - 1e-9)
    test = sign_flip_test(d, 20000, 3)
    # 5 standard errors of a share from 20,000 draws: a false alarm below 1 in a million (and the seed is fixed).
    assert test.p_value == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 20000))


def test_the_statistic_is_students_t() -> None:
    d = np.array([0.5, 0.25, 1.0, -0.25])
    expected = d.mean() / (d.std(ddof=1) / 2)
    assert sign_flip_test(d, 99, 0).statistic == pytest.approx(expected)


def test_p_is_never_zero_and_one_without_a_difference() -> None:
    sure = sign_flip_test(np.full(60, 1.0), 999, 0)
    assert sure.p_value == 1 / 1000 and sure.statistic is None
    none = sign_flip_test(np.zeros(30), 999, 0)
    assert none.p_value == 1.0 and none.statistic is None


def test_swapping_the_arms_and_the_seed() -> None:
    d = np.random.default_rng(0).normal(0.1, 1, 40)
    one, two = sign_flip_test(d, 999, 7), sign_flip_test(-d, 999, 7)
    assert one.p_value == two.p_value
    assert one.statistic == pytest.approx(-(two.statistic or 0))
    assert sign_flip_test(d, 999, 7) == one


def test_the_level_holds_under_the_null() -> None:
    rng = np.random.default_rng(11)
    rejected = sum(sign_flip_test(rng.choice([-1.0, 0.0, 1.0], 25), 199, int(s)).p_value <= 0.05 for s in range(400))
    # At most Binomial(400, 0.05): above 38 with probability below 1 in 5,000; the seed is fixed.
    assert rejected <= 38


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([]) == ()
    assert holm([0.9, 0.8]) == (1.0, 1.0)


@given(st.lists(st.floats(0.0, 1.0), max_size=8))
def test_holm_never_lowers_a_p_and_keeps_the_order(p: list[float]) -> None:
    adjusted = holm(p)
    assert all(a >= x and a <= 1.0 for a, x in zip(adjusted, p, strict=True))
    by_p = sorted(range(len(p)), key=lambda i: p[i])
    assert all(adjusted[i] <= adjusted[j] for i, j in itertools.pairwise(by_p))
