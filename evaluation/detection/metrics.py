"""Detection metrics on arrays: how well support in [0, 1] separates supported from hallucinated statements.

There are n statements, with support (n,) of floats and labels supported (n,) of booleans. The positive class is
*hallucinated*. An undefined metric is None or NaN, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.counts import Floats

Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]
THRESHOLD = 0.5
"""Statements with support below this are called hallucinated.

It was fixed before any evaluation, not chosen on its data.
"""
CALIBRATION_BINS = 15


@dataclass(frozen=True, slots=True)
class BestThreshold:
    """Threshold with the highest balanced accuracy on the same data: an upper bound, not a result."""

    threshold: float
    balanced_accuracy: float


def auroc(support: Floats, supported: Bools) -> float | None:
    """Return P(a supported statement has more support than a hallucinated one), ties counting half.

    This is the Mann-Whitney U divided by the number of pairs (Hanley and McNeil 1982). None if a class is missing.
    """
    value = float(weighted_auroc(support, supported, np.ones((1, support.size)))[0])
    return value if np.isfinite(value) else None


def weighted_auroc(support: Floats, supported: Bools, weights: Floats) -> Floats:
    """Return the AUROC with each statement counted weights[b, i] times: (n,), (n,), (B, n) -> (B,).

    NaN if a class is missing. One sort serves all B: U = sum over distinct values v of pos(v) (neg(below v) + neg(v) /
    2).
    """
    order = np.argsort(support, kind="stable")
    values = support[order]
    starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]]) if values.size else np.zeros(0, dtype=np.intp)
    sorted_weights, yes = weights[:, order], supported[order]
    if not starts.size:
        return np.full(weights.shape[0], np.nan)
    positive = np.add.reduceat(np.where(yes, sorted_weights, 0.0), starts, axis=1)  # (B, distinct)
    negative = np.add.reduceat(np.where(yes, 0.0, sorted_weights), starts, axis=1)
    u = (positive * (np.cumsum(negative, axis=1) - negative / 2.0)).sum(axis=1)
    pairs = positive.sum(axis=1) * negative.sum(axis=1)
    result: Floats = np.divide(u, pairs, out=np.full_like(u, np.nan), where=pairs > 0)
    return result


def confusion(support: Floats, supported: Bools, threshold: float = THRESHOLD) -> Floats:
    """Return the one-hot cells of the confusion matrix: (n, 4).

    The columns are hallucinated flagged, hallucinated passed, supported flagged, supported passed; flagged means
    support < threshold. The formulae below take sums of rows.
    """
    flagged = support < threshold
    cells = (~supported & flagged, ~supported & ~flagged, supported & flagged, supported & ~flagged)
    return np.stack(cells, axis=1).astype(np.float64)


def balanced_accuracy(cells: Floats) -> Floats:
    """Return the mean recall of the two classes (Brodersen et al. 2010): (..., 4) -> (...); NaN with one class."""
    caught, missed, false_alarm, passed = np.moveaxis(cells, -1, 0)
    return (_ratio(caught, caught + missed) + _ratio(passed, passed + false_alarm)) / 2.0


def f1_hallucinated(cells: Floats) -> Floats:
    """Return 2 TP / (2 TP + FP + FN) with hallucinated as the positive class (van Rijsbergen 1979): (..., 4) -> (...).

    NaN if no statement is hallucinated and none is flagged.
    """
    caught, missed, false_alarm, _ = np.moveaxis(cells, -1, 0)
    return _ratio(2.0 * caught, 2.0 * caught + missed + false_alarm)


def equal_mass_bins(support: Floats, bins: int = CALIBRATION_BINS) -> Ints:
    """Return the bin 0..bins-1 of each statement, about n / bins in each: (n,) -> (n,).

    These are the adaptive bins of Nixon et al. 2019. Equal values share the bin of their middle rank, so the order of
    the statements does not matter.
    """
    _, inverse, counts = np.unique(support, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2.0
    bin_indices: Ints = np.minimum((bins * middle / max(support.size, 1)).astype(np.intp), bins - 1)
    return bin_indices[inverse]


def calibration_gaps(support: Floats, supported: Bools, bins: Ints, count: int = CALIBRATION_BINS) -> Floats:
    """Return label minus support in the column of the statement's bin, else 0: (n, count).

    This is the input of ``calibration_error``.
    """
    gaps = np.zeros((support.size, count))
    gaps[np.arange(support.size), bins] = supported - support
    return gaps


def calibration_error(gap_sums: Floats, totals: Floats) -> Floats:
    """Return the expected calibration error: (..., bins), (...) -> (...).

    sum_b n_b / n |acc_b - conf_b| (Naeini et al. 2015; Guo et al. 2017, eq. 3). Since n_b acc_b and n_b conf_b are sums
    over the bin, this is sum_b |sum of (label - support)| / n. It is biased upwards in small samples, because noise
    adds to the absolute value.
    """
    return _ratio(np.abs(gap_sums).sum(axis=-1), totals)


def best_threshold(support: Floats, supported: Bools) -> BestThreshold | None:
    """Return the threshold with the best balanced accuracy; ties go to the one nearest to 0.5.

    None if a class is missing.
    """
    if not supported.any() or supported.all():
        return None
    values = np.unique(support)
    ends = np.array([0.0, np.nextafter(max(1.0, values[-1]), 2.0), THRESHOLD])
    candidates: Floats = np.concatenate((ends, (values[1:] + values[:-1]) / 2.0))
    good, bad = np.sort(support[supported]), np.sort(support[~supported])
    passed = 1.0 - np.searchsorted(good, candidates, side="left") / good.size
    caught = np.searchsorted(bad, candidates, side="left") / bad.size
    scores = (passed + caught) / 2.0
    best: Bools = scores >= scores.max() - 1e-12
    far = np.where(best, np.abs(candidates - THRESHOLD), np.inf)
    chosen = int(np.argmin(far))
    return BestThreshold(float(candidates[chosen]), float(scores[chosen]))


def _ratio(top: Floats, bottom: Floats) -> Floats:
    top, bottom = np.broadcast_arrays(np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64))
    result: Floats = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0)
    return result
