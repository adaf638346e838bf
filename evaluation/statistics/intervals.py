"""Compute intervals for a share of responses that are independent only between questions.

Every quantity is a ratio of totals over questions, sum_q h_q / sum_q a_q. With a_q = 1 it is the mean over questions of
h_q, the share of a question's responses with the event. If a_q is the share that answered, it is the rate among
answers. Arrays have shape (..., N questions); leading axes are independent data sets. docs/statistics.md contains the
derivations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from evaluation.statistics.counts import Floats

ROUNDING = 1e-12
"""Shares closer than this count as equal, because they are ratios of small integers."""

NO_WIDTH = 1e-9
"""Limits closer than this count as equal. Such an interval has zero width, which no finite sample justifies."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Lower and upper limits, and the effective number of independent responses, each of shape (...)."""

    lower: Floats
    upper: Floats
    effective_size: Floats


def ratio(h: Floats, a: Floats) -> Floats:
    """Return sum h / sum a over the last axis, NaN where sum a is 0: (..., N), (..., N) -> (...)."""
    total = a.sum(axis=-1)
    result: Floats = np.divide(h.sum(axis=-1), total, out=np.full_like(total, np.nan), where=total > 0)
    return result


def linearised(h: Floats, a: Floats) -> Floats:
    """Return each question's contribution to the error of the ratio, (h_q - R a_q) / sum a: shape (..., N), sum 0.

    This is the Taylor linearisation of a ratio of totals (Woodruff 1971; Cochran 1977, chapter 6).
    """
    r = ratio(h, a)
    result: Floats = (h - r[..., None] * a) / a.sum(axis=-1, keepdims=True)
    return result


def effective_limits(h: Floats, a: Floats, responses: Floats | float, level: float) -> Limits:
    """Return Clopper-Pearson limits at the clustered effective sample size. Shapes (..., N) -> (...).

    responses: upper bound on the number of independent responses (the denominator's count), shape (...) or a number.

    The limits never have zero width. Korn and Graubard 1998 replace n in Clopper-Pearson by n* = p(1 - p) / v(p), where
    v is the variance between clusters, taken at p. If events are rare and clustered, that interval misses far more
    often than its level says: one question with 1 of 8 events looks like 8 N independent responses.

    Here each limit is computed with one additional question that lies completely on the limit's side: all events for
    the upper limit, none for the lower. Clopper-Pearson does the same with one additional trial (its limits are
    quantiles of Beta(x + 1, n - x) and Beta(x, n - x + 1)), and so do Fay and Feuer 1997 (their w_M) for weighted
    counts. With r and v of the N + 1 questions, c = r(1 - r)/v:

        upper = Beta^-1(1 - alpha/2; c r, c (1 - r)),   lower likewise with its own r and v.

    One sample per question, or perfectly correlated samples, give c = N + 1, which is Clopper-Pearson on N trials. So
    does a rate of 0 or 1. The weight of the added question is sum a^2 / sum a, the weight of a typical response's
    question. c - 1 is capped at `responses` (Korn-Graubard's truncation) and multiplied by (t_{c-2} / t_{N-1})^2. This
    is Korn-Graubard's factor for the degrees of freedom, with the effective size in place of the nominal one in its
    numerator. Perfectly correlated samples then give the interval of N trials and not a wider one.
    """
    total, squares = a.sum(axis=-1), (a * a).sum(axis=-1)
    weight = squares / total
    informative = np.count_nonzero(a > 0, axis=-1)
    # If all a_q are equal, shares cannot vary more than one Bernoulli trial per question: c >= N + 1.
    equal = np.ptp(a, axis=-1) <= ROUNDING
    floor = np.where(equal, informative, 0.0)
    rate = ratio(h, a)
    tail = (1.0 - level) / 2.0
    limits, sizes = [], []
    for event, quantile in ((0.0, tail), (1.0, 1.0 - tail)):
        r = (h.sum(axis=-1) + weight * event) / (total + weight)
        # A rate of 0 or 1 has no variance. Rounding would give it a spurious one.
        sure = np.all(a - h <= ROUNDING, axis=-1) if event else np.all(h <= ROUNDING, axis=-1)
        residual = h - r[..., None] * a
        variance = ((residual**2).sum(axis=-1) + (weight * (event - r)) ** 2) / (total + weight) ** 2
        usable = (variance > 0) & ~sure
        spread = r * (1.0 - r)
        size = np.divide(spread, variance, out=np.full_like(spread, np.inf), where=usable) - 1.0
        size = np.minimum(size, responses)
        size = np.maximum(size * _degrees_factor(size, informative, level), floor)
        sizes.append(np.where(sure, informative, size))
        c = size + 1.0
        quantiles = special.betaincinv(
            np.where(sure, 1.0, np.maximum(c * r, 1e-12)),
            np.where(sure, 1.0, np.maximum(c * (1.0 - r), 1e-12)),
            quantile,
        )
        limits.append(np.where(sure, event, quantiles))
    return Limits(np.minimum(limits[0], rate), np.maximum(limits[1], rate), np.minimum(sizes[0], sizes[1]))


def _degrees_factor(size: Floats, informative: NDArray[np.int_], level: float) -> Floats:
    """Return (t_{n*-1} / t_{N-1})^2, at most 1 (Korn and Graubard 1998, with n* in place of n). Shape (...)."""
    quantile = 1.0 - (1.0 - level) / 2.0
    effective = special.stdtrit(np.maximum(size - 1.0, 1.0), quantile)
    nominal = special.stdtrit(np.maximum(informative - 1.0, 1.0), quantile)
    factor: Floats = np.minimum((effective / nominal) ** 2, 1.0)
    return factor


def clustered_t_limits(h: Floats, a: Floats, level: float) -> Limits:
    """Return ratio -+ t_{N-1} sqrt(N/(N-1) sum z_q^2), clustered by question (Miller 2024). Shapes (..., N) -> (...).

    z are the linearised errors. The limits are not clipped to [0, 1]. They have zero width if all questions are equal,
    and are infinite for one question.
    """
    n = h.shape[-1]
    z = linearised(h, a)
    rate = ratio(h, a)
    if n < 2:
        wide = np.full_like(rate, np.inf)
        return Limits(rate - wide, rate + wide, np.full_like(rate, np.nan))
    half = stats.t.ppf(1.0 - (1.0 - level) / 2.0, n - 1) * np.sqrt(n / (n - 1.0) * (z * z).sum(axis=-1))
    return Limits(rate - half, rate + half, np.full_like(rate, np.nan))
