"""Compute BCa bootstrap intervals by question. All statistics of a run share one matrix of multinomial weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from evaluation.statistics.counts import Floats


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval with lower <= upper."""

    lower: float
    upper: float


Weights = NDArray[np.uint16]
_BLOCK_CELLS = 250_000
"""Number of weights converted to floating point at a time: 2 MB, which fits in a core's cache."""


def question_weights(questions: int, replicates: int, seed: int) -> Weights:
    """Return multinomial bootstrap weights: (B replicates, N questions). Each row adds up to N.

    The weights depend only on N, B and seed, so arms with the same questions are resampled together. A weight takes two
    bytes: 20 MB for 1,000 questions and 10,000 replicates. A count above 65,535 would need more than that many
    questions and one question that is drawn nearly every time.
    """
    rng = np.random.default_rng([seed, questions, replicates])
    share = np.full(questions, 1.0 / questions)
    drawn = np.empty((replicates, questions), dtype=np.uint16)
    for rows in blocks(replicates, questions):
        drawn[rows] = rng.multinomial(questions, share, size=rows.stop - rows.start)
    return drawn


def blocks(replicates: int, cells: int, at_once: int = _BLOCK_CELLS) -> Iterator[slice]:
    """Yield consecutive slices of the replicates, each with at most ``at_once`` numbers but at least one replicate.

    cells: how many numbers each replicate has.
    """
    step = max(1, at_once // max(cells, 1))
    for start in range(0, replicates, step):
        yield slice(start, min(start + step, replicates))


def weighted_sums(weights: Weights | Floats, columns: Floats) -> Floats:
    """Return the weighted sums over questions of each replicate: (B, N), (N, k) -> (B, k).

    They are computed in blocks of bounded memory.
    """
    result = np.empty((weights.shape[0], columns.shape[1]))
    for rows in blocks(weights.shape[0], weights.shape[1]):
        result[rows] = weights[rows].astype(np.float64) @ columns
    return result


def ratio_replicates(weights: Weights | Floats, h: Floats, a: Floats) -> Floats:
    """Return sum w h / sum w a of each replicate, NaN if the denominator is 0: (B, N), (N,), (N,) -> (B,)."""
    top, bottom = weighted_sums(weights, np.stack([h, a], axis=1)).T
    result: Floats = np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0)
    return result


def ratio_jackknife(h: Floats, a: Floats) -> Floats:
    """Return the leave-one-question-out ratios, NaN if the denominator is 0: (N,), (N,) -> (N,)."""
    top, bottom = h.sum() - h, a.sum() - a
    result: Floats = np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 1e-12)
    return result


def bca_limits(estimate: float, replicates: Floats, jackknife: Floats, level: float) -> Interval | None:
    """Return bias-corrected and accelerated limits (Efron 1987; Efron and Tibshirani 1993, eq. 14.9, 14.14, 14.15).

    replicates: (B,), bootstrap replicates of the estimate.
    jackknife: (N,), leave-one-out values of the estimate.

    Returns None if a jackknife value is undefined, if the replicates are undefined or constant, or if the limits have
    zero width. Ties with the estimate count half in z0, because shares of small counts tie often.
    """
    replicates = np.sort(replicates[np.isfinite(replicates)])
    if replicates.size < 2 or not np.all(np.isfinite(jackknife)) or np.ptp(replicates) < 1e-12:
        return None
    gap = 1e-12
    below = np.count_nonzero(replicates < estimate - gap)
    ties = np.count_nonzero(np.abs(replicates - estimate) <= gap)
    share = (below + ties / 2.0) / replicates.size
    z0 = float(special.ndtri(np.clip(share, 0.5 / replicates.size, 1.0 - 0.5 / replicates.size)))
    spread = jackknife.mean() - jackknife
    squares = float((spread**2).sum())
    acceleration = float((spread**3).sum()) / (6.0 * squares**1.5) if squares > 0 else 0.0
    z = special.ndtri(np.array([(1.0 - level) / 2.0, 1.0 - (1.0 - level) / 2.0]))
    adjusted = special.ndtr(z0 + (z0 + z) / np.maximum(1.0 - acceleration * (z0 + z), 1e-6))
    lower, upper = np.quantile(replicates, adjusted)
    lower, upper = min(float(lower), estimate), max(float(upper), estimate)
    return Interval(lower, upper) if upper - lower > gap else None
