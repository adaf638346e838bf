"""Fusing ranked lists into one. Pure functions over hits; knows nothing of the retrievers that made them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt

from retrieval.hits import Hit

Normalise = Callable[[Sequence[float]], tuple[float, ...]]


def reciprocal_rank(rank: int, constant: float = 60.0) -> float:
    """1 / (constant + rank), rank from 1: the summand of Cormack, Clarke and Buettcher, SIGIR 2009."""
    return 1.0 / (constant + rank)


def min_max(scores: Sequence[float]) -> tuple[float, ...]:
    """(s - min) / (max - min), in [0, 1]: Lee, SIGIR 1997. All 1 when the scores do not differ.

    Equal scores say that the retriever liked all of them alike, and it did return them; 0 would say the opposite.
    """
    if not scores:
        return ()
    low, high = min(scores), max(scores)
    if high == low:
        return tuple(1.0 for _ in scores)
    return tuple((score - low) / (high - low) for score in scores)


def z_score(scores: Sequence[float]) -> tuple[float, ...]:
    """(s - mean) / standard deviation, less the lowest of them, so that 0 is "not returned" as it is for min-max.

    Renda and Straccia, SAC 2003, "ZMUV"; the shift is ours and changes no order within a run. All 1 when the scores do
    not differ.
    """
    if not scores:
        return ()
    mean = sum(scores) / len(scores)
    deviation = sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    if deviation <= 1e-12 * max(1.0, abs(mean)):
        return tuple(1.0 for _ in scores)
    low = min(scores)
    return tuple((score - low) / deviation for score in scores)


def fuse_reciprocal_rank(
    runs: Sequence[Sequence[Hit]], constant: float = 60.0, weights: Sequence[float] | None = None
) -> tuple[Hit, ...]:
    """Sum of the reciprocal ranks; a run that lacks a position adds nothing (Cormack et al. 2009, k = 60).

    runs: each best first. weights: of the runs, 1 each unless given. Result: best first, equal scores by position.
    Raises ValueError for weights that do not fit.
    """
    weights = _checked(weights if weights is not None else (1.0,) * len(runs), len(runs))
    totals: dict[int, float] = {}
    for run, weight in zip(runs, weights, strict=True):
        for rank, hit in enumerate(run, start=1):
            totals[hit.position] = totals.get(hit.position, 0.0) + weight * reciprocal_rank(rank, constant)
    return _ordered(totals)


def fuse_min_max(runs: Sequence[Sequence[Hit]], weights: Sequence[float]) -> tuple[Hit, ...]:
    """Weighted sum of min-max normalised scores (Lee, SIGIR 1997; weighted: Bruch, Gai and Ingber, TOIS 2023).

    A run that lacks a position adds 0, its lowest normalised score. weights: one a run, not negative, not all 0.
    Raises ValueError if they are not. Result: best first, equal scores by position.
    """
    return _fuse_normalised(runs, weights, min_max)


def fuse_z_score(runs: Sequence[Sequence[Hit]], weights: Sequence[float]) -> tuple[Hit, ...]:
    """``fuse_min_max`` with ``z_score`` in place of min-max: an outlier at the top does not flatten the rest."""
    return _fuse_normalised(runs, weights, z_score)


def _fuse_normalised(runs: Sequence[Sequence[Hit]], weights: Sequence[float], normalise: Normalise) -> tuple[Hit, ...]:
    weights = _checked(weights, len(runs))
    total = sum(weights)
    totals: dict[int, float] = {}
    for run, weight in zip(runs, weights, strict=True):
        for hit, normalised in zip(run, normalise([hit.score for hit in run]), strict=True):
            totals[hit.position] = totals.get(hit.position, 0.0) + weight / total * normalised
    return _ordered(totals)


def _checked(weights: Sequence[float], runs: int) -> Sequence[float]:
    if len(weights) != runs or any(not weight >= 0 for weight in weights) or (runs and not sum(weights)):
        raise ValueError(f"{runs} runs need as many weights, none negative and not all 0, not {tuple(weights)}")
    return weights


def _ordered(totals: Mapping[int, float]) -> tuple[Hit, ...]:
    return tuple(Hit(p, s) for p, s in sorted(totals.items(), key=lambda item: (-item[1], item[0])))
