"""Fusing ranked lists into one. Pure functions over hits; knows nothing of the retrievers that made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from retrieval.hits import Hit


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


def fuse_reciprocal_rank(runs: Sequence[Sequence[Hit]], constant: float = 60.0) -> tuple[Hit, ...]:
    """Sum of the reciprocal ranks; a run that lacks a position adds nothing (Cormack et al. 2009, k = 60).

    runs: each best first. Result: best first, equal scores by position.
    """
    totals: dict[int, float] = {}
    for run in runs:
        for rank, hit in enumerate(run, start=1):
            totals[hit.position] = totals.get(hit.position, 0.0) + reciprocal_rank(rank, constant)
    return _ordered(totals)


def fuse_min_max(runs: Sequence[Sequence[Hit]], weights: Sequence[float]) -> tuple[Hit, ...]:
    """Weighted sum of min-max normalised scores (Lee, SIGIR 1997; weighted: Bruch, Gai and Ingber, TOIS 2023).

    A run that lacks a position adds 0, its lowest normalised score. weights: one a run, not negative, not all 0.
    Raises ValueError if they are not. Result: best first, equal scores by position.
    """
    if len(weights) != len(runs) or any(weight < 0 for weight in weights) or not sum(weights):
        raise ValueError(f"{len(runs)} runs need as many weights, none negative and not all 0, not {tuple(weights)}")
    total = sum(weights)
    totals: dict[int, float] = {}
    for run, weight in zip(runs, weights, strict=True):
        for hit, normalised in zip(run, min_max([hit.score for hit in run]), strict=True):
            totals[hit.position] = totals.get(hit.position, 0.0) + weight / total * normalised
    return _ordered(totals)


def _ordered(totals: Mapping[int, float]) -> tuple[Hit, ...]:
    return tuple(Hit(p, s) for p, s in sorted(totals.items(), key=lambda item: (-item[1], item[0])))
