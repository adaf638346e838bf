"""Threshold procedures, vectorised over R data sets.

A procedure maps (R, Q) scores and counts of hallucinated samples to the certified threshold of each data set (NaN if
there is none).
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
"""Maps score (R, Q), wrong (R, Q), grid (R, T), samples, alpha and delta to thresholds (R,)."""


def grids(spare: Floats, labels: int, alpha: float, delta: float, steps: int = 20) -> Floats:
    """Return (R, T) grids for (R, M) spare scores: ``evaluation.guarantee.thresholds.threshold_grid`` with all scores
    usable.
    """
    ordered = -np.sort(-spare, axis=1)
    shares = np.linspace(start_share(labels, alpha, delta), 1.0, steps)
    places = np.ceil(shares * spare.shape[1] - 1e-9).astype(np.intp) - 1
    return np.asarray(ordered[:, places])


def counts(score: Floats, wrong: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """Return the number of questions above each threshold, and of their hallucinated samples, each (R, T)."""
    above = score[:, :, None] >= grid[:, None, :]
    return above.sum(axis=1).astype(np.float64), (above * wrong[:, :, None]).sum(axis=1)


def in_sequence(p: Floats, grid: Floats, delta: float) -> Floats:
    """Return the loosest threshold before the first p-value above delta."""
    return last(np.logical_and.accumulate(p <= delta, axis=1), grid)


def last(passed: NDArray[np.bool_], grid: Floats) -> Floats:
    """Return the threshold of the last True; NaN if there is none."""
    place = passed.shape[1] - 1 - np.argmax(passed[:, ::-1], axis=1)
    return np.where(passed.any(axis=1), grid[np.arange(len(grid)), place], np.nan)


def fixed_sequence(score: Floats, wrong: Floats, grid: Floats, samples: int, alpha: float, delta: float) -> Floats:
    """Return the thresholds of Plumbline's method, which tests the strictest threshold first.

    The test is exact for one sample per question, and betting on question means for several.
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
    """Return the loosest threshold with its own p-value at most delta, without correction for multiple tests."""
    n, k = counts(score, wrong, grid)
    return last(exceedance_p_value(k, n * samples, alpha) <= delta, grid)


def pooled(score: Floats, wrong: Floats, grid: Floats, samples: int, alpha: float, delta: float) -> Floats:
    """Return the thresholds of a fixed sequence that treats all samples as independent."""
    n, k = counts(score, wrong, grid)
    return in_sequence(exceedance_p_value(k, n * samples, alpha), grid, delta)


def seen_rate(score: Floats, wrong: Floats, grid: Floats, samples: int, alpha: float, delta: float) -> Floats:
    """Return the loosest threshold with an observed rate of at most alpha, without a test."""
    n, k = counts(score, wrong, grid)
    return last((n > 0) & (k <= alpha * n * samples), grid)
