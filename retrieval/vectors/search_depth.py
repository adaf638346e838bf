"""The search depth of an approximate index: the smallest that reaches the target recall, measured at build time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from retrieval.ranking.hits import Hits
from retrieval.vectors.faiss_index import Vectors
from retrieval.vectors.params import DenseParams
from retrieval.vectors.recall import (
    DenseRecall,
    Positions,
    exact_neighbours,
    measured_recall,
    neighbours,
    sampled_positions,
)

_K = 10
_QUERIES = 200
_CLOSE = 0.005
"""Stop this close to the best recall that quantisation allows; closing the rest doubles the time for each halving."""


class DeepIndex(Protocol):
    """An approximate index with a search depth."""

    @property
    def deepest(self) -> int:
        """The largest useful depth."""

    def deepen(self, depth: int) -> None:
        """Set the depth."""

    def search(self, queries: Vectors, k: int) -> tuple[Hits, ...]:
        """For each of the (Q, E) queries, return about its k best chunks, best first."""


@dataclass(frozen=True, slots=True)
class RecallTrial:
    """Stored vectors used as queries. queries: (Q, E). own: (Q,) their positions. exact: (Q, k) nearest neighbours."""

    queries: Vectors
    own: Positions
    exact: Positions
    k: int

    def recall(self, found: Positions, depth: int | None) -> DenseRecall:
        """found: (Q, k + 1) positions, -1 where there are fewer."""
        return measured_recall(neighbours(found, self.own, self.k), self.exact, self.k, depth)


def recall_trial(vectors: Vectors, progress: Callable[[int, int], None] | None = None) -> RecallTrial:
    """Draw the queries from the N >= 2 vectors and search them exactly. progress: called with (N, N) for each block."""
    count = len(vectors)
    own = sampled_positions(count, _QUERIES, seed=1)
    k = min(_K, count - 1)
    exact = exact_neighbours(vectors, own, k, progress=lambda _: progress(count, count) if progress else None)
    return RecallTrial(np.ascontiguousarray(vectors[own], dtype=np.float32), own, exact, k)


def deepened(
    index: DeepIndex, trial: RecallTrial, params: DenseParams, least: int, ceiling: DenseRecall | None = None
) -> DenseRecall:
    """Set the depth of the index: the given one, or the smallest power of two times ``least`` that reaches the target.

    ceiling: recall of an exact search of quantised vectors, beyond which no depth helps.
    """
    target = params.target_recall if ceiling is None else min(params.target_recall, ceiling.recall - _CLOSE)
    depth = min(params.search_depth or least, index.deepest)
    while True:
        index.deepen(depth)
        k = trial.k + 1
        found = np.asarray(
            [hits.positions.tolist() + [-1] * (k - len(hits)) for hits in index.search(trial.queries, k)]
        )
        recall = trial.recall(found, depth)
        if params.search_depth is not None or recall.recall >= target or depth >= index.deepest:
            return recall
        depth = min(2 * depth, index.deepest)
