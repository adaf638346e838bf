"""Measure the difference of two arms' rates on the same questions, as the rate fixed minus the rate broken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.statistics.bootstrap import Interval, bca_limits, ratio_jackknife, ratio_replicates
from evaluation.statistics.counts import Floats
from evaluation.statistics.estimates import HallucinationEstimate, Measurement, unmeasured
from evaluation.statistics.intervals import ROUNDING, clustered_t_limits, effective_limits, linearised, ratio
from evaluation.statistics.measure import Basis, Resampler, alternative_estimate

TRUSTED_DISCORDANT = 20
"""Minimum number of questions on which two arms must differ for their correlation to narrow a difference of ratios."""


@dataclass(frozen=True, slots=True)
class DifferenceLimits:
    """Lower and upper limits of a difference, shape (...)."""

    lower: Floats
    upper: Floats


def mover(
    p: Floats, p_lower: Floats, p_upper: Floats, q: Floats, q_lower: Floats, q_upper: Floats, rho: Floats
) -> DifferenceLimits:
    """Return the limits of p - q from the limits of each, by the method of variance estimates recovery. Shape (...).

    rho: correlation of p and q.

    Zou and Donner 2008, with correlation; Newcombe 1998 (paired data), method 10: L = p - q - sqrt((p - l)^2 + (u' -
    q)^2 - 2 rho (p - l)(u' - q)), U likewise with u - p and q - l'.
    """
    down = (p - p_lower) ** 2 + (q_upper - q) ** 2 - 2.0 * rho * (p - p_lower) * (q_upper - q)
    up = (p_upper - p) ** 2 + (q - q_lower) ** 2 - 2.0 * rho * (p_upper - p) * (q - q_lower)
    lower = p - q - np.sqrt(np.maximum(down, 0.0))
    upper = p - q + np.sqrt(np.maximum(up, 0.0))
    return DifferenceLimits(np.maximum(lower, -1.0), np.minimum(upper, 1.0))


def correlation(x: Floats, y: Floats) -> Floats:
    """Return the Pearson correlation over the last axis, 0 where an input is constant: (..., N) -> (...)."""
    dx, dy = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    scale = np.sqrt((dx * dx).sum(axis=-1) * (dy * dy).sum(axis=-1))
    product = (dx * dy).sum(axis=-1)
    result: Floats = np.clip(np.divide(product, scale, out=np.zeros_like(scale), where=scale > 1e-15), -1.0, 1.0)
    return result


def fixed_minus_broken_limits(
    fixed: Floats, broken: Floats, a: Floats, responses: Floats | float, level: float
) -> DifferenceLimits:
    """Return the MOVER limits of sum fixed / sum a - sum broken / sum a. Shapes (..., N) -> (...).

    responses: upper bound on the number of independent responses.

    The difference of the rates equals the rate fixed minus the rate broken. The limits are combined from those two
    rates and not from the arms' own rates. This keeps the level if the arms differ on few questions. There the arms'
    correlation is near 1, the two distances cancel, and Newcombe's interval around a difference of zero has no width.
    """
    f = effective_limits(fixed, a, responses, level)
    b = effective_limits(broken, a, responses, level)
    rho = correlation(linearised(fixed, a), linearised(broken, a))
    return mover(ratio(fixed, a), f.lower, f.upper, ratio(broken, a), b.lower, b.upper, rho)


def ratio_difference_limits(
    h1: Floats, a1: Floats, responses1: Floats | float, h2: Floats, a2: Floats, responses2: Floats | float, level: float
) -> DifferenceLimits:
    """Return the MOVER limits of sum h1 / sum a1 - sum h2 / sum a2. Shapes (..., N) -> (...).

    The denominators differ, so there are no fixed and broken responses. A positive correlation of the arms is used only
    if at least 20 questions differ between them. Below that it makes the interval too short (see docs/statistics.md). A
    question differs if its rates among answers differ. A question that is only answered less often in one arm carries
    no information on the outcomes.
    """
    r1, r2 = ratio(h1, a1), ratio(h2, a2)
    one, two = effective_limits(h1, a1, responses1, level), effective_limits(h2, a2, responses2, level)
    rho = _guarded_correlation(h1, a1, h2, a2)
    differ = np.count_nonzero(np.abs(h1 * a2 - h2 * a1) > ROUNDING, axis=-1)
    rho = np.where(differ >= TRUSTED_DISCORDANT, rho, np.minimum(rho, 0.0))
    return mover(r1, one.lower, one.upper, r2, two.lower, two.upper, rho)


def _guarded_correlation(h1: Floats, a1: Floats, h2: Floats, a2: Floats) -> Floats:
    """Return the correlation of two ratios' linearised errors. A positive one is damped. Shapes (..., N) -> (...).

    A positive correlation is at most the one with two added discordant questions, one of each kind (compare Agresti and
    Min 2005). Without them, arms that differ equally on every question have correlation 1, and the MOVER limits have no
    width.
    """
    plain = correlation(linearised(h1, a1), linearised(h2, a2))
    ones, none = np.ones((*h1.shape[:-1], 1)), np.zeros((*h1.shape[:-1], 1))
    typical = [(a * a).sum(axis=-1, keepdims=True) / a.sum(axis=-1, keepdims=True) * ones for a in (a1, a2)]
    b1, b2 = (np.concatenate([a, t, t], axis=-1) for a, t in zip((a1, a2), typical, strict=True))
    g1 = np.concatenate([h1, typical[0], none], axis=-1)
    g2 = np.concatenate([h2, none, typical[1]], axis=-1)
    guarded = correlation(linearised(g1, b1), linearised(g2, b2))
    result: Floats = np.where(plain > 0.0, np.minimum(plain, guarded), plain)
    return result


def measure_fixed_minus_broken(
    fixed: Floats, broken: Floats, a: Floats, responses: int, independent: float, resampler: Resampler
) -> Measurement:
    """Measure the difference of two rates with one denominator, by MOVER, clustered t and BCa.

    fixed, broken, a: (N,).
    responses: number of responses in the denominator, for display.
    independent: upper bound on the number of independent responses.
    """
    settings = resampler.settings
    if not a.size or a.sum() <= 0:
        return unmeasured(settings.level, "no question has answers to compare in both arms")
    limits = fixed_minus_broken_limits(fixed, broken, a, independent, settings.level)
    change = fixed - broken
    rate = float(ratio(fixed, a) - ratio(broken, a))
    basis = _basis(change, a, rate, responses)
    t = clustered_t_limits(change, a, settings.level)
    replicates = ratio_replicates(resampler.weights(a.size), change, a)
    bca = bca_limits(rate, replicates, ratio_jackknife(change, a), settings.level)
    return Measurement(
        _mover_estimate(rate, limits, basis, settings.level),
        alternative_estimate(rate, Interval(float(t.lower), float(t.upper)), basis, settings, "clustered_t", -1.0),
        alternative_estimate(rate, bca, basis, settings, "bca", -1.0),
    )


def measure_ratio_difference(
    h1: Floats, a1: Floats, h2: Floats, a2: Floats, responses1: int, responses2: int, resampler: Resampler
) -> Measurement:
    """Measure the difference of two ratios with different denominators, by MOVER, clustered t and BCa.

    h1, a1, h2, a2: (N,).
    responses1, responses2: numbers of responses in the denominators.
    """
    settings = resampler.settings
    if not a1.size or a1.sum() <= 0 or a2.sum() <= 0:
        return unmeasured(settings.level, "one of the arms has no answers")
    limits = ratio_difference_limits(h1, a1, float(responses1), h2, a2, float(responses2), settings.level)
    rate = float(ratio(h1, a1) - ratio(h2, a2))
    z = linearised(h1, a1) - linearised(h2, a2)
    basis = _basis(
        np.where(np.abs(h1 - h2) > ROUNDING, h1 - h2, 0.0), np.maximum(a1, a2), rate, responses1 + responses2
    )
    # z sums to 0 and is already scaled. The shift makes the clustered t of its mean that of the difference.
    t = clustered_t_limits(z * z.size + rate, np.ones_like(z), settings.level)
    weights = resampler.weights(a1.size)
    replicates = ratio_replicates(weights, h1, a1) - ratio_replicates(weights, h2, a2)
    bca = bca_limits(rate, replicates, ratio_jackknife(h1, a1) - ratio_jackknife(h2, a2), settings.level)
    return Measurement(
        _mover_estimate(rate, limits, basis, settings.level),
        alternative_estimate(rate, Interval(float(t.lower), float(t.upper)), basis, settings, "clustered_t", -1.0),
        alternative_estimate(rate, bca, basis, settings, "bca", -1.0),
    )


def _basis(change: Floats, a: Floats, rate: float, responses: int) -> Basis:
    """Return the sample sizes of a difference. An event is a question on which the arms differ.

    A question counts in ``other_questions`` unless it changed completely in the direction of the difference.
    """
    toward = change if rate >= 0 else -change
    return Basis(
        questions=int(np.count_nonzero(a > 0)),
        responses=responses,
        event_questions=int(np.count_nonzero(np.abs(change) > ROUNDING)),
        other_questions=int(np.count_nonzero((a > 0) & (a - toward > ROUNDING))),
        event="a difference",
    )


def _mover_estimate(rate: float, limits: DifferenceLimits, basis: Basis, level: float) -> HallucinationEstimate:
    return HallucinationEstimate(
        rate,
        min(float(limits.lower), rate),
        max(float(limits.upper), rate),
        level,
        basis.questions,
        basis.responses,
        basis.event_questions,
        basis.other_questions,
        "mover",
    )
