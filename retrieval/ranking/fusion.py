"""Fuse several ranked lists into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrieval.ranking.hits import NO_HITS, Hit, Hits, ranked

Floats = NDArray[np.float64]
Normalise = Callable[[Floats], Floats]


def reciprocal_rank(rank: int, constant: float = 60.0) -> float:
    """Return 1 / (constant + rank), with ranks from 1: the summand of Cormack, Clarke and Buettcher, SIGIR 2009."""
    return 1.0 / (constant + rank)


def min_max(scores: ArrayLike) -> Floats:
    """Return (s - min) / (max - min) of (k,) scores, in [0, 1] (Lee, SIGIR 1997). All are 1 if the scores are equal.

    Equal scores mean that the retriever found all chunks equally good, while 0 means that it did not return a chunk.
    """
    values = np.asarray(scores, dtype=np.float64)
    if not values.size:
        return values
    low, high = values.min(), values.max()
    if high == low:
        return np.ones_like(values)
    return np.asarray((values - low) / (high - low))


def z_score(scores: ArrayLike) -> Floats:
    """Return (s - mean) / standard deviation, minus its lowest value, so that 0 means "not returned", as for min-max.

    This is "ZMUV" of Renda and Straccia, SAC 2003. The shift is our addition and does not change the order within a
    run. All are 1 if the scores are equal.
    """
    values = np.asarray(scores, dtype=np.float64)
    if not values.size:
        return values
    # Summed sequentially, because the order of numpy's sum depends on the machine.
    summands = values.tolist()
    mean = sum(summands) / len(summands)
    deviation = sqrt(sum((value - mean) ** 2 for value in summands) / len(summands))
    if deviation <= 1e-12 * max(1.0, abs(mean)):
        return np.ones_like(values)
    return np.asarray((values - values.min()) / deviation)


def fuse_reciprocal_rank(
    runs: Sequence[Sequence[Hit]], constant: float = 60.0, weights: Sequence[float] | None = None
) -> Hits:
    """Fuse runs by the weighted sum of reciprocal ranks (Cormack et al. 2009, k = 60). Returns hits, best first.

    runs: ranked lists, each best first; a run that lacks a position adds 0. weights: one weight for each run, 1 by
    default. Equal scores are sorted by position. Raises ValueError for invalid weights.
    """
    weights = _check_weights(weights if weights is not None else (1.0,) * len(runs), len(runs))
    hits = [Hits.of(run) for run in runs]
    return _sum_by_position(
        hits,
        [weight * (1.0 / (constant + np.arange(1.0, len(run) + 1))) for run, weight in zip(hits, weights, strict=True)],
    )


def fuse_min_max(runs: Sequence[Sequence[Hit]], weights: Sequence[float]) -> Hits:
    """Fuse runs by the weighted sum of min-max normalised scores. Returns hits, best first.

    Lee, SIGIR 1997; with weights: Bruch, Gai and Ingber, TOIS 2023. A run that lacks a position adds 0, the lowest
    normalised score. weights: one weight for each run, none negative and not all 0. Equal scores are sorted by
    position. Raises ValueError for invalid weights.
    """
    return _fuse_normalised(runs, weights, min_max)


def fuse_z_score(runs: Sequence[Sequence[Hit]], weights: Sequence[float]) -> Hits:
    """Fuse runs as ``fuse_min_max`` does, but with ``z_score``, so that a top outlier does not flatten other scores."""
    return _fuse_normalised(runs, weights, z_score)


def _fuse_normalised(runs: Sequence[Sequence[Hit]], weights: Sequence[float], normalise: Normalise) -> Hits:
    weights = _check_weights(weights, len(runs))
    total = sum(weights)
    hits = [Hits.of(run) for run in runs]
    return _sum_by_position(
        hits, [weight / total * normalise(run.scores) for run, weight in zip(hits, weights, strict=True)]
    )


def _check_weights(weights: Sequence[float], runs: int) -> Sequence[float]:
    if len(weights) != runs or any(not weight >= 0 for weight in weights) or (runs and not sum(weights)):
        raise ValueError(f"{runs} runs need as many weights, none negative and not all 0, not {tuple(weights)}")
    return weights


def _sum_by_position(runs: Sequence[Hits], parts: Sequence[Floats]) -> Hits:
    """Return the positions by the sum of their parts, best first. parts: (k,) summands of the hits of each run.

    bincount adds in array order, which is by run, so the sum is the same on every machine.
    """
    if not any(map(len, runs)):
        return NO_HITS
    positions, inverse = np.unique(np.concatenate([run.positions for run in runs]), return_inverse=True)
    return ranked(positions, np.bincount(inverse, weights=np.concatenate(parts)))
