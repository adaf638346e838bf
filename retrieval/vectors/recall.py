"""Measure the recall of an approximate index against exact search, with its own vectors as queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]
Search = Callable[[NDArray[np.float32], int], Positions]
"""A function from (Q, E) queries and k to (Q, k) positions, best first, -1 where there are fewer."""


@dataclass(frozen=True, slots=True)
class DenseRecall:
    """Measured recall of an approximate index.

    recall: mean share of the exact k nearest neighbours that were found. lower: lower 95 % confidence limit of the
    recall. queries: number of queries. search_depth: HNSW's efSearch or the number of IVF lists probed; None for a flat
    quantised index.
    """

    recall: float
    lower: float
    k: int
    queries: int
    search_depth: int | None


def sampled_positions(count: int, queries: int, seed: int = 0) -> Positions:
    """Return up to ``queries`` of ``count`` positions, ascending, drawn without replacement with a fixed seed."""
    rng = np.random.default_rng([seed, count])
    drawn: Positions = np.sort(rng.choice(count, size=min(queries, count), replace=False)).astype(np.int64)
    return drawn


def without_query(found: Positions, query_positions: Positions, k: int) -> Positions:
    """Return the (Q, k) results without the query itself.

    found: (Q, k + 1) results. query_positions: (Q,) positions of the queries. If a duplicate was found instead of the
    query, the last result is dropped.
    """
    kept = np.full((len(found), k), -1, dtype=np.int64)
    for row, (results, own_position) in enumerate(zip(found, query_positions, strict=True)):
        others = results[results != own_position][:k]
        kept[row, : len(others)] = others
    return kept


def exact_neighbours(
    vectors: NDArray[np.float32],
    query_positions: Positions,
    k: int,
    block: int = 4_096,
    progress: Callable[[int], None] | None = None,
) -> Positions:
    """Return the (Q, k) nearest neighbours, by inner product, of the vectors at the positions ``query_positions``.

    A vector is not its own neighbour. vectors: (N, E), read in blocks of ``block`` rows. progress: called after each
    block with the number of vectors read.
    """
    queries = np.asarray(vectors[query_positions], dtype=np.float32)
    best_scores = np.full((len(query_positions), 0), -np.inf, dtype=np.float32)
    best = np.zeros((len(query_positions), 0), dtype=np.int64)
    for start in range(0, len(vectors), block):
        part = np.asarray(vectors[start : start + block], dtype=np.float32)
        scores = queries @ part.T
        in_block = (query_positions >= start) & (query_positions < start + len(part))
        scores[np.flatnonzero(in_block), query_positions[in_block] - start] = -np.inf
        all_scores = np.concatenate([best_scores, scores], axis=1)
        results = np.concatenate([best, np.broadcast_to(np.arange(start, start + len(part)), scores.shape)], axis=1)
        keep = min(k, all_scores.shape[1])
        chosen = np.argpartition(-all_scores, keep - 1, axis=1)[:, :keep]
        best_scores, best = np.take_along_axis(all_scores, chosen, 1), np.take_along_axis(results, chosen, 1)
        if progress is not None:
            progress(start + len(part))
    return best


def measure_recall(found: Positions, exact: Positions, k: int, search_depth: int | None) -> DenseRecall:
    """Return the mean share of each row of ``exact`` (Q, k) that is in the same row of ``found``.

    The confidence limit is that of a normal distribution.
    """
    shares = np.asarray(
        [len(np.intersect1d(one[one >= 0], other)) / len(other) for one, other in zip(found, exact, strict=True)]
    )
    error = float(shares.std(ddof=1)) / np.sqrt(len(shares)) if len(shares) > 1 else 0.0
    mean = float(shares.mean())
    return DenseRecall(mean, max(0.0, mean - 1.96 * error), k, len(shares), search_depth)
