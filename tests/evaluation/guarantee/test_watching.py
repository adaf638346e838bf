"""The watches: coverage at every look, false alarms, detection, shifts of questions, anchors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.guarantee.answers import NO_SCORE
from evaluation.guarantee.betting import mean_capital
from evaluation.guarantee.watching.anchors import check_anchors
from evaluation.guarantee.watching.shift import ShiftWatch, distances
from evaluation.guarantee.watching.stream import RateWatch, after_answer, alarm_capital, log_factors


def test_every_factor_is_fair_at_the_null_rate() -> None:
    for m in (0.05, 0.3, 0.9):
        for size in (1.0, 0.2):
            mean = m * np.exp(log_factors(1.0, m, size)) + (1 - m) * np.exp(log_factors(0.0, m, size))
            assert mean == pytest.approx(np.ones_like(mean))


def test_false_alarms_and_misses_at_any_look_stay_below_delta() -> None:
    """1,000 streams of 300 audits at r = alpha, with a look after each audit.

    Even for exact bounds, more than 0.08 of them alarm or miss (4.4 standard errors above 0.05) with probability below
    0.00001.
    """
    rng = np.random.default_rng(0)
    alpha = 0.1
    events = (rng.random((1000, 300)) < alpha) * 1.0
    raised = missed = np.zeros(1000, dtype=np.bool_)
    above = below = np.zeros((1000, log_factors(0.0, alpha).size))
    alarm = np.full_like(above, -np.inf)
    for number, event in enumerate(events.T, start=1):
        alarm = after_answer(alarm, log_factors(event, alpha), number)
        above = above + log_factors(event, alpha)
        below = below + log_factors(1 - event, 1 - alpha)
        raised = raised | (alarm_capital(alarm, number) >= math.log(20))
        missed = missed | (np.maximum(mean_capital(above), mean_capital(below)) >= math.log(40))
    assert raised.mean() <= 0.08 and missed.mean() <= 0.08


def test_a_rate_that_doubles_raises_the_alarm_and_the_sequence_narrows() -> None:
    rng = np.random.default_rng(1)
    watch = RateWatch(0.1)
    assert watch.reading.rate is None and (watch.reading.lower, watch.reading.upper) == (0.0, 1.0)
    for _ in range(600):
        watch.add(bool(rng.random() < 0.25))
    reading = watch.reading
    assert reading.raised and reading.raised_after is not None and reading.raised_after < 300
    assert 0.15 < reading.lower < 0.25 < reading.upper < 0.35
    assert reading.most >= math.log(20) and not reading.changed


def test_a_rise_after_a_long_good_time_is_noticed_soon_and_no_constant_rate_is_claimed() -> None:
    rng = np.random.default_rng(5)
    watch = RateWatch(0.1)
    for rate, answers in ((0.02, 600), (0.5, 150)):
        for _ in range(answers):
            watch.add(bool(rng.random() < rate))
    reading = watch.reading
    assert reading.raised_after is not None and 600 < reading.raised_after < 660
    assert reading.changed


def test_audits_with_unequal_probabilities_are_weighted() -> None:
    """Hallucinated answers are audited three times as often. The weighted rate is still that of all answers.

    The tolerance 0.045 is 3.7 standard errors.
    """
    rng = np.random.default_rng(2)
    watch = RateWatch(0.3, floor=0.2)
    for _ in range(3000):
        wrong = bool(rng.random() < 0.2)
        probability = 0.6 if wrong else 0.2
        if rng.random() < probability:
            watch.add(wrong, probability)
    assert watch.reading.rate == pytest.approx(0.2, abs=0.045)
    assert not watch.reading.raised and watch.reading.lower < 0.2 < watch.reading.upper


@pytest.mark.parametrize("probability", [0.0, 0.1, 1.5, float("nan")])
def test_an_audit_below_the_floor_is_refused(probability: float) -> None:
    with pytest.raises(EvaluationError, match="probability"):
        RateWatch(0.1, floor=0.2).add(True, probability)


@pytest.mark.parametrize(("alpha", "delta", "floor"), [(0.0, 0.05, 1.0), (0.1, 1.0, 1.0), (0.1, 0.05, 0.0)])
def test_a_watch_that_cannot_be(alpha: float, delta: float, floor: float) -> None:
    with pytest.raises(EvaluationError):
        RateWatch(alpha, delta, floor)


def test_the_shift_alarm_is_silent_on_like_questions_and_not_on_others() -> None:
    """60 streams of 150 questions without a shift.

    More than 9 alarms (3 expected at most) have probability below 0.002.
    """
    rng = np.random.default_rng(3)
    alarms = 0
    for stream in range(60):
        watch = ShiftWatch(rng.random(40), seed=stream)
        for distance in rng.random(150):
            watch.add(float(distance))
        alarms += watch.raised_after is not None
    assert alarms <= 9
    watch = ShiftWatch(rng.random(100))
    for distance in 0.8 + 0.4 * rng.random(60):
        watch.add(float(distance))
    assert watch.raised_after is not None and watch.raised_after < 40


def test_equal_distances_are_no_shift() -> None:
    watch = ShiftWatch(np.full(50, 0.3))
    for _ in range(200):
        assert 0.0 < watch.add(0.3) < 1.0
    assert watch.raised_after is None
    with pytest.raises(EvaluationError, match="19"):
        ShiftWatch(np.zeros(19))


def test_distances_are_to_the_nearest_reference() -> None:
    eye = np.eye(3)
    assert distances(np.array([[1.0, 0, 0], [0, 0, 1.0]]), eye[:2]).tolist() == [0.0, 1.0]


def test_anchors_tell_a_verifier_that_got_worse() -> None:
    wrong = np.arange(100) < 40
    good = np.where(wrong, 0.1, 0.9)
    same = check_anchors(good, good, wrong, 0.5)
    assert (same.worse, same.better, same.p_value, same.alarm) == (0, 0, 1.0, False)
    worse = good.copy()
    worse[:12] = 0.9
    found = check_anchors(good, worse, wrong, 0.5)
    assert found.worse == 12 and found.alarm and found.p_value == pytest.approx(0.5**12)
    assert found.passed_now == found.passed_before + 12
    assert not check_anchors(worse, good, wrong, 0.5).alarm
    lost = np.where(np.arange(100) >= 90, NO_SCORE, good)
    assert check_anchors(good, lost, wrong, 0.5).unscored == 10
    assert [check_anchors(good, good, wrong, 0.5, k).level for k in (1, 2, 3)] == pytest.approx(
        [0.025, 0.05 / 6, 0.05 / 12]
    )
    with pytest.raises(EvaluationError, match="check is 0"):
        check_anchors(good, good, wrong, 0.5, 0)
    with pytest.raises(EvaluationError, match="99"):
        check_anchors(good, good[:99], wrong, 0.5)
