"""Threshold procedures, vectorised over many data sets: (R, Q) scores and hallucinated counts in, the certified
threshold of each data set out (NaN if there is none).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evaluation.guarantee.betting import clustered_p_value
from evaluation.guarantee.exact import exceedance_p_value
from evaluation.guarantee.thresholds import start_share

Floats = NDArray[np.float64]
Procedure = Callable[[Floats, Floats, Floats, int, float, float], Floats]
"""score (R, Q), wrong (R, Q), grid (R, T), samples, alpha, delta -> (R,)."""


def grids(spare: Floats, labels: int, alpha: float, delta: float, steps: int = 20) -> Floats:
    """(R, M) spare scores -> (R, T): ``evaluation.guarantee.thresholds.threshold_grid`` of each, all scores usable."""
    ordered = -np.sort(-spare, axis=1)
    shares = np.linspace(start_share(labels, alpha, delta), 1.0, steps)
    places = np.ceil(shares * spare.shape[1] - 1e-9).astype(np.intp) - 1
    return np.asarray(ordered[:, places])


def counts(score: Floats, wrong: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """Questions above each threshold, and hallucinated samples of them: (R, T)."""
    above = score[:, :, None] >= grid[:, None, :]
    return above.sum(axis=1).astype(np.float64), (above * wrong[:, :, None]).sum(axis=1)


def in_sequence(p: Floats, grid: Floats, delta: float) -> Floats:
    """The loosest threshold before the first p-value above delta."""
    return last(np.logical_and.accumulate(p <= delta, axis=1), grid)


def last(passed: NDArray[np.bool_], grid: Floats) -> Floats:
    """The threshold of the last True, NaN without any."""
    place = passed.shape[1] - 1 - np.argmax(passed[:, ::-1], axis=1)
    return np.where(passed.any(axis=1), grid[np.arange(len(grid)), place], np.nan)


def fixed_sequence(score: Floats, wrong: Floats, grid: Floats, samples: int, alpha: float, delta: float) -> Floats:
    """Plumbline's method: exact for one sample per question, betting on question means for several; strictest threshold
    first.
    """
    if samples == 1:
        n, k = counts(score, wrong, grid)
        return in_sequence(exceedance_p_value(k, n, alpha), grid, delta)
    p = np.stack(
        [
            clustered_p_value((score >= t[:, None]) * wrong / samples, (score >= t[:, None]) * 1.0, alpha)
            for t in grid.T
        ],
        axis=1,
    )
    return in_sequence(p, grid, delta)


def unsequenced(score: Floats, wrong: Floats, grid: Floats, samples: int, alpha: float, delta: float) -> Floats:
    """The loosest of all thresholds whose own p-value is at most delta, without correction for multiple tests."""
    n, k = counts(score, wrong, grid)
    return last(exceedance_p_value(k, n * samples, alpha) <= delta, grid)


def pooled(score: Floats, wrong: Floats, grid: Floats, samples: int, alpha: float, delta: float) -> Floats:
    """Fixed sequence, with all samples treated as independent."""
    n, k = counts(score, wrong, grid)
    return in_sequence(exceedance_p_value(k, n * samples, alpha), grid, delta)


def seen_rate(score: Floats, wrong: Floats, grid: Floats, samples: int, alpha: float, delta: float) -> Floats:
    """The loosest threshold whose observed rate is at most alpha, without a test."""
    n, k = counts(score, wrong, grid)
    return last((n > 0) & (k <= alpha * n * samples), grid)
