"""The prediction-powered estimate: closed forms, the best lambda, strata, and coverage by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from evaluation.correction.figures import few_labels, labels_only
from evaluation.correction.ratio import corrected_ratio
from evaluation.correction.rectified import LabelledSample, _degrees, best_lambda, design_of, rectified
from evaluation.statistics.counts import Floats

ONE, DIFFERENCE = np.ones(1), np.array([1.0, -1.0])
# Data sets of the fast simulations. The bound lies four Monte Carlo standard errors below 0.95: where coverage is just
# that, a test fails by chance with probability 3 in 100,000, and the seeds are fixed.
REPLICATES = 100
LOWEST = 0.95 - 4.0 * float(np.sqrt(0.95 * 0.05 / REPLICATES))


def sample_of(predicted: Floats, place: Floats, verifier: Floats, labels: Floats, strata: Any = None) -> LabelledSample:
    stratum = np.zeros(len(predicted), dtype=np.intp) if strata is None else strata
    return LabelledSample(predicted, place.astype(np.intp), verifier, labels, stratum)


def test_a_verifier_that_says_always_the_same_leaves_the_t_interval_of_the_labels() -> None:
    labels = np.array([1, 0, 0, 1, 0, 0, 0, 1.0])[:, None]
    sample = sample_of(np.ones((20, 1)), np.arange(8), np.ones((8, 1)), labels)
    found = rectified(sample, ONE, 0.95)
    expected = stats.ttest_1samp(labels[:, 0], 0.0).confidence_interval(0.95)
    assert found.lambdas == (0.0,) and found.estimate == pytest.approx(3 / 8) and found.degrees == 7
    assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high))


def test_variance_is_the_formula_with_lambda_in_it(world: Any) -> None:
    # lambda^2 s_f^2 / N + s_e^2 / m + 2 lambda cov(f, e) / N, written out; one lambda for all, as when folds agree.
    sample = world(400, 4, 80, 0.3, 0.5, 0.85, 0.9).draw(1)
    found = rectified(sample, ONE, 0.95, folds=2)
    f, n, m = sample.predicted[:, 0], 400, 80
    lam = found.lambdas[0]
    e = sample.labels[:, 0] - lam * sample.verifier[:, 0]
    own = f[sample.question_index]
    variance = lam**2 * f.var(ddof=1) / n + e.var(ddof=1) / m + 2 * lam * np.cov(own, e)[0, 1] / n
    assert found.standard_error == pytest.approx(np.sqrt(variance), rel=0.02)
    assert found.estimate == pytest.approx(lam * f.mean() + e.mean(), abs=0.01)


def test_few_errors_of_the_verifier_leave_few_degrees() -> None:
    # 15 misses among 300 labels, with a verifier that flags only 45 hits: 2 m / (kurtosis - 1) of the remaining errors.
    labels = np.zeros(300)
    labels[:60] = 1.0
    seen = labels.copy()
    seen[:15] = 0.0
    predicted = np.concatenate([seen, np.repeat([1.0, 0.0], [105, 595])])[:, None]
    found = rectified(sample_of(predicted, np.arange(300), seen[:, None], labels[:, None]), ONE, 0.95)
    errors = labels - found.lambdas[0] * seen
    kurtosis = float(stats.kurtosis(errors, fisher=False))
    assert found.degrees == pytest.approx(2 * 300 / (kurtosis - 1), rel=0.01) and 25 < found.degrees < 60
    half = stats.t.ppf(0.975, found.degrees) * found.standard_error
    assert found.upper - found.estimate == pytest.approx(half)


def test_degrees_lie_between_four_and_the_labels_less_the_strata() -> None:
    # A fair coin has the smallest possible kurtosis: 2 m / 0. One error among 100 has a kurtosis above 98: 2 degrees.
    coin = np.tile([0.0, 1.0], 50)
    silent = np.zeros((100, 1))
    assert rectified(sample_of(silent, np.arange(100), silent, coin[:, None]), ONE, 0.95).degrees == 99
    one = np.zeros((100, 1))
    one[0] = 1.0
    assert rectified(sample_of(silent, np.arange(100), silent, one), ONE, 0.95).degrees == 4
    strata = np.repeat([0, 1], 50)
    by_strata = rectified(sample_of(silent, np.arange(100), silent, coin[:, None], strata), ONE, 0.95)
    assert by_strata.degrees == 98
    constant = rectified(sample_of(silent, np.arange(100), silent, silent), ONE, 0.95)
    assert (constant.degrees, constant.lower, constant.upper) == (99, 0.0, 0.0)


def degrees_by_moments(errors: Floats, strata: Any, shares: tuple[float, ...]) -> float:
    """Return 2 V^2 / Var(V) by central moments: V = sum W^2 m2 / m, Var(V) = sum W^4 (m4 - m2^2) / m^3."""
    variance = spread = 0.0
    for number, share in enumerate(shares):
        some = errors[strata == number]
        second, fourth = float(stats.moment(some, 2)), float(stats.moment(some, 4))
        variance += share**2 * second / some.size
        spread += share**4 * (fourth - second**2) / some.size**3
    return 2 * variance**2 / spread


def test_degrees_by_strata_are_two_squares_of_the_variance_over_its_variance() -> None:
    # 60 of the 300 questions of one stratum are drawn and 30 of the other's 600: their weights differ fourfold.
    strata = np.repeat([0, 1], [300, 600])
    place = np.concatenate([np.arange(60), np.arange(300, 330)])
    errors = np.random.default_rng(5).exponential(size=90)
    empty = np.zeros((90, 1))
    design = design_of(sample_of(np.zeros((900, 1)), place, empty, empty, strata))
    expected = degrees_by_moments(errors, strata[place], (1 / 3, 2 / 3))
    assert 4 < expected < 88
    assert _degrees(errors, design) == pytest.approx(expected)


def test_best_lambda_has_the_least_variance_of_all(world: Any) -> None:
    sample = world(300, 4, 150, 0.3, 0.5, 0.85, 0.9, 0.1).draw(2)
    design = design_of(sample)
    means, single = sample.predicted * DIFFERENCE, sample.verifier * DIFFERENCE
    y = sample.labels @ DIFFERENCE
    found = best_lambda(means, means[sample.question_index], single, y, design, np.ones(150, bool))

    def variance(lam: Floats) -> float:
        e, f = y - single @ lam, means @ lam
        return float(f.var(ddof=1) / 300 + e.var(ddof=1) / 150 + 2 * np.cov(f[sample.question_index], e)[0, 1] / 300)

    # cov(f, e) is estimated, but lambda uses its expectation. The minimum is therefore near lambda, not exactly there.
    steps = [np.array([dx, dy]) for dx in (-0.3, 0, 0.3) for dy in (-0.3, 0, 0.3) if dx or dy]
    assert all(variance(found) < variance(np.clip(found + step, 0, 1)) for step in steps)


def test_without_sampling_noise_lambda_is_the_regression_slope() -> None:
    # One response a question: A = (1/m - 1/N) var f and b = (1/m - 1/N) cov(h, f), PPI++ with the labelled among all.
    rng = np.random.default_rng(4)
    h = (rng.random(4000) < 0.3) * 1.0
    f = np.where(rng.random(4000) < 0.15, 1 - h, h)
    place = rng.choice(4000, 1000, replace=False)
    sample = sample_of(f[:, None], place, f[place, None], h[place, None])
    found = best_lambda(
        sample.predicted, f[place, None], f[place, None], h[place], design_of(sample), np.ones(1000, bool)
    )
    slope = np.cov(h[place], f[place])[0, 1] / f[place].var(ddof=1)
    assert float(found[0]) == pytest.approx(slope, rel=0.02)


def test_strata_and_their_weights_change_nothing_but_the_variance(world: Any) -> None:
    # Stratified by verdict, with flagged questions drawn five times as often: the estimate is still unbiased.
    rng = np.random.default_rng(8)
    estimates, errors, covered = [], [], 0
    for _ in range(REPLICATES):
        n, samples = 300, 4
        p = rng.beta(0.4, 1.6, n)
        h = rng.random((n, samples)) < p[:, None]
        f = np.where(rng.random((n, samples)) < 0.1, ~h, h)
        stratum = f.any(axis=1).astype(np.intp)
        place = np.concatenate(
            [rng.choice(np.flatnonzero(stratum == s), k, replace=False) for s, k in ((0, 20), (1, 60))]
        )
        one = rng.integers(samples, size=80)
        sample = sample_of(
            f.mean(axis=1)[:, None], place, f[place, one, None] * 1.0, h[place, one, None] * 1.0, stratum
        )
        found = rectified(sample, ONE, 0.95)
        estimates.append(found.estimate)
        errors.append(found.standard_error)
        covered += found.lower <= 0.2 <= found.upper
    errors_of_the_last = sample.labels[:, 0] - found.lambdas[0] * sample.verifier[:, 0]
    of_strata = (float(np.mean(stratum == 0)), float(np.mean(stratum == 1)))
    # One lambda is used here in place of one per fold.
    assert found.degrees == pytest.approx(degrees_by_moments(errors_of_the_last, stratum[place], of_strata), rel=0.05)
    assert 4 < found.degrees < 78
    assert np.mean(estimates) == pytest.approx(0.2, abs=4 * np.std(estimates) / np.sqrt(REPLICATES))
    assert np.mean(errors) == pytest.approx(np.std(estimates), rel=0.2)
    assert covered / REPLICATES >= LOWEST


@pytest.mark.parametrize(
    ("setting", "truth"),
    [
        ((400, 4, 80, 0.2, 0.5, 0.85, 0.9), 0.2),
        ((200, 4, 60, 0.1, 0.5, 0.9, 0.97), 0.1),
        ((200, 4, 100, 0.3, 0.5, 0.9, 0.85, 0.1), 0.1),
    ],
)
def test_the_headline_covers_where_the_verifiers_own_interval_does_not(
    world: Any, setting: tuple[float, ...], truth: float
) -> None:
    coefficients = ONE if len(setting) == 7 else DIFFERENCE
    covered, naive = 0, 0
    for seed in range(REPLICATES):
        sample = world(*setting).draw(seed)
        switch = few_labels(sample, coefficients)
        found: Any = rectified(sample, coefficients, 0.95)
        found = labels_only(sample, coefficients, 0.95) if switch else found
        covered += found.lower <= truth <= found.upper
        seen = sample.predicted @ coefficients
        half = 1.96 * seen.std() / np.sqrt(seen.size)
        naive += seen.mean() - half <= truth <= seen.mean() + half
    assert covered / REPLICATES >= LOWEST
    assert naive / REPLICATES < 0.90


@pytest.mark.drill
def test_the_answered_rate_is_a_ratio_of_corrected_totals(world: Any) -> None:
    rng = np.random.default_rng(9)
    covered, estimates, some = 0, [], 30
    for _ in range(some):
        n = 400
        answers, rate = rng.beta(3, 2, n), rng.beta(0.6, 1.4, n)
        predicted = rng.random((n, 3)) < answers[:, None]
        truth = predicted & (rng.random((n, 3)) < rate[:, None])
        wrong = rng.random((n, 3)) < 0.1
        seen = np.where(predicted, truth ^ wrong, False)
        heard = predicted ^ (rng.random((n, 3)) < 0.02) | seen
        place, one = rng.choice(n, 120, replace=False), rng.integers(3, size=120)
        pick = (place, one)
        sample = sample_of(
            np.stack([seen.mean(axis=1), heard.mean(axis=1)], axis=1),
            place,
            np.stack([seen[pick], heard[pick]], axis=1) * 1.0,
            np.stack([truth[pick], predicted[pick]], axis=1) * 1.0,
        )
        found = corrected_ratio(sample, 0.95, 0, 10)
        assert found is not None
        estimates.append(found.estimate)
        covered += found.lower <= 0.3 <= found.upper
    # At a coverage of 0.95 more than 6 misses of 30 have probability 1 in 1,500, and the seed is fixed.
    assert covered >= some - 6
    assert np.mean(estimates) == pytest.approx(0.3, abs=4 * np.std(estimates) / np.sqrt(some) + 0.003)


def test_a_ratio_without_answers_is_none() -> None:
    nothing = np.zeros((10, 2))
    assert corrected_ratio(sample_of(nothing, np.arange(5), nothing[:5], nothing[:5]), 0.95, 0, 10) is None


def test_a_sample_that_does_not_fit_is_refused() -> None:
    one = np.ones((3, 1))
    with pytest.raises(ValueError, match="once"):
        sample_of(np.ones((5, 1)), np.array([0, 0, 1]), one, one)
    with pytest.raises(ValueError, match="shapes"):
        sample_of(np.ones((5, 1)), np.arange(3), one, np.ones((3, 2)))
    with pytest.raises(ValueError, match="two labelled"):
        design_of(sample_of(np.ones((6, 1)), np.array([0, 1, 4]), one, one, np.array([0, 0, 0, 1, 1, 1])))
