"""Platt's curve recovers known parameters, is finite for separable classes, and rejects decreasing scores."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit

from evaluation.detection.calibration import Calibration, fit_logistic, fit_platt
from evaluation.errors import EvaluationError


def drawn(slope: float, intercept: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    logits = random.normal(0.5, 2.0, n)
    return logits, random.random(n) < expit(slope * logits + intercept)


@pytest.mark.parametrize(("slope", "intercept"), [(0.5, -0.4), (1.0, 0.0), (2.0, 1.0), (0.05, 0.3)])
def test_a_known_curve_is_found_again(slope: float, intercept: float) -> None:
    """Each parameter lies within 4.5 standard errors by the Fisher information.

    This fails in 7 of 1,000,000 draws per parameter, and the draw is fixed.
    """
    logits, supported = drawn(slope, intercept, 20_000, seed=1)
    found = fit_platt(logits.tolist(), supported.tolist())
    p = expit(slope * logits + intercept)
    design = np.stack((logits, np.ones_like(logits)))
    errors = np.sqrt(np.diag(np.linalg.inv((design * (p * (1 - p))) @ design.T)))
    assert abs(found.slope - slope) < 4.5 * errors[0]
    assert abs(found.intercept - intercept) < 4.5 * errors[1]


def test_it_is_the_minimum_of_the_smoothed_cross_entropy() -> None:
    logits, supported = drawn(0.8, 0.2, 60, seed=2)
    found = fit_platt(logits.tolist(), supported.tolist())
    yes, no = int(supported.sum()), int((~supported).sum())
    target = np.where(supported, (yes + 1) / (yes + 2), 1 / (no + 2))  # Platt's eq. 6
    off = expit(found.slope * logits + found.intercept) - target
    assert float((off * logits).mean()) == pytest.approx(0, abs=1e-4)  # the gradient vanishes
    assert float(off.mean()) == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("gap", [0.01, 1.0, 50.0])
def test_separable_classes_stay_finite(gap: float) -> None:
    logits = [-gap - n / 10 for n in range(20)] + [gap + n / 10 for n in range(20)]
    found = fit_platt(logits, [False] * 20 + [True] * 20)
    assert math.isfinite(found.slope) and math.isfinite(found.intercept)
    assert 0 < found.slope < 1000
    support = expit(found.slope * np.array(logits) + found.intercept)
    assert support[:20].max() < 0.5 < support[20:].min()
    assert support.min() > 0.001 and support.max() < 0.9999


def test_weights_are_repetition_up_to_the_smoothing_and_have_no_scale() -> None:
    logits, supported = drawn(1.0, 0.0, 3000, seed=3)
    times = np.where(supported, 3, 1)
    weighted = fit_platt(logits.tolist(), supported.tolist(), times.tolist())
    repeated = fit_platt(np.repeat(logits, times).tolist(), np.repeat(supported, times).tolist())
    plain = fit_platt(logits.tolist(), supported.tolist())
    assert weighted.slope == pytest.approx(repeated.slope, abs=0.01)
    assert weighted.intercept == pytest.approx(repeated.intercept, abs=0.01)
    assert weighted.intercept > plain.intercept + 0.5
    scaled = fit_platt(logits.tolist(), supported.tolist(), (times / 500).tolist())
    assert scaled.slope == pytest.approx(weighted.slope, abs=1e-4)
    assert fit_platt(logits.tolist(), supported.tolist(), [1.0] * 3000) == plain


@pytest.mark.parametrize("label", [True, False])
def test_one_class_is_an_error(label: bool) -> None:
    with pytest.raises(EvaluationError, match="both"):
        fit_platt([0.1, 0.2, 0.3], [label] * 3)
    with pytest.raises(EvaluationError, match="both"):
        fit_platt([], [])


def test_a_falling_curve_is_an_error() -> None:
    logits, supported = drawn(1.0, 0.0, 500, seed=4)
    with pytest.raises(EvaluationError, match="calibrated"):
        fit_platt((-logits).tolist(), supported.tolist())


def test_logits_that_say_nothing_keep_the_base_rate() -> None:
    found = fit_platt([0.0] * 100, [True] * 80 + [False] * 20)
    assert expit(found.intercept) == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(
    ("logits", "supported", "weights"),
    [
        ([1.0, math.nan], [True, False], None),
        ([1.0, -math.inf], [True, False], None),
        ([1.0, 0.0], [True, False], [1.0, 0.0]),
        ([1.0, 0.0], [True, False], [1.0, -1.0]),
        ([1.0, 0.0], [True, False], [1.0, math.nan]),
    ],
)
def test_numbers_that_are_none_are_refused(
    logits: list[float], supported: list[bool], weights: list[float] | None
) -> None:
    with pytest.raises(EvaluationError, match="positive weights"):
        fit_platt(logits, supported, weights)


def test_an_offset_stands_beside_the_curve() -> None:
    """An offset that contributed to the labels is accounted for. A constant offset is absorbed by the intercept."""
    chance = np.random.default_rng(3)
    logits = chance.normal(size=2000)
    offset = -2.0 * (chance.random(2000) < 0.3)
    supported = chance.random(2000) < expit(1.5 * logits + 0.5 + offset)
    found = fit_platt(logits.tolist(), supported.tolist(), offsets=offset.tolist())
    assert (found.slope, found.intercept) == pytest.approx((1.5, 0.5), abs=0.2)
    without = fit_platt(logits.tolist(), supported.tolist())
    assert without.intercept < found.intercept - 0.3
    constant = fit_platt(logits.tolist(), supported.tolist(), offsets=[0.7] * 2000)
    assert (constant.slope, constant.intercept) == pytest.approx((without.slope, without.intercept - 0.7), abs=1e-3)
    with pytest.raises(EvaluationError, match="finite logits"):
        fit_platt([1.0, -1.0], [True, False], offsets=[0.0, float("nan")])


def test_lengths_must_agree() -> None:
    with pytest.raises(EvaluationError, match=r"3 logits"):
        fit_platt([1.0, 2.0, 3.0], [True, False])
    with pytest.raises(EvaluationError, match="1 weights"):
        fit_platt([1.0, 2.0], [True, False], [1.0])
    assert fit_platt([1.0, -1.0], [True, False]) == Calibration(*_symmetric())


def test_a_curve_in_two_variables_is_found_again() -> None:
    """Each parameter lies within 4.5 standard errors by the Fisher information, as above."""
    random = np.random.default_rng(7)
    x = random.normal(0.3, 1.5, (2, 20_000))
    x[1] += 0.6 * x[0]  # the two variables are correlated
    truth = np.array([0.7, 1.3, -0.4])
    p = expit(truth[:2] @ x + truth[2])
    slopes, intercept = fit_logistic(x.tolist(), (random.random(20_000) < p).tolist())
    design = np.vstack((x, np.ones(20_000)))
    errors = np.sqrt(np.diag(np.linalg.inv((design * (p * (1 - p))) @ design.T)))
    assert (np.abs(np.array([*slopes, intercept]) - truth) < 4.5 * errors).all()
    with pytest.raises(EvaluationError, match="calibrated"):
        fit_logistic([x[0].tolist(), (-x[1]).tolist()], (random.random(20_000) < p).tolist())
    with pytest.raises(EvaluationError, match="3 logits"):
        fit_logistic([[1.0, 2.0], [1.0, 2.0, 3.0]], [True, False])


def _symmetric() -> tuple[float, float]:
    """Return two claims at +1 and -1 with targets 2/3 and 1/3: the slope is logit(2/3), the intercept 0."""
    return pytest.approx(math.log(2), abs=1e-4), pytest.approx(0.0, abs=1e-4)  # type: ignore[return-value]
