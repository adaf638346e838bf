"""Find the smallest search depth of an approximate index that reaches the target recall, at build time."""

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
"""Distance to the greatest recall that quantisation allows at which the search for a depth stops.

Each halving of the remaining distance would double the time of a search.
"""


class DeepIndex(Protocol):
    """An approximate index with a search depth."""

    @property
    def deepest(self) -> int:
        """Greatest useful search depth."""

    def deepen(self, depth: int) -> None:
        """Set the search depth."""

    def search(self, queries: Vectors, k: int) -> tuple[Hits, ...]:
        """Return approximately the k best chunks for each of the (Q, E) queries, best first."""


@dataclass(frozen=True, slots=True)
class RecallTrial:
    """A sample of stored vectors that are used as queries.

    queries: (Q, E) vectors. own: (Q,) their positions. exact: (Q, k) nearest neighbours by exact search.
    """

    queries: Vectors
    own: Positions
    exact: Positions
    k: int

    def recall(self, found: Positions, depth: int | None) -> DenseRecall:
        """Return the recall of search results. found: (Q, k + 1) positions, -1 where there are fewer."""
        return measured_recall(neighbours(found, self.own, self.k), self.exact, self.k, depth)


def recall_trial(vectors: Vectors, progress: Callable[[int, int], None] | None = None) -> RecallTrial:
    """Draw queries from at least 2 vectors and find their exact neighbours.

    progress: called with (N, N) for each block of the N vectors.
    """
    count = len(vectors)
    own = sampled_positions(count, _QUERIES, seed=1)
    k = min(_K, count - 1)
    exact = exact_neighbours(vectors, own, k, progress=lambda _: progress(count, count) if progress else None)
    return RecallTrial(np.ascontiguousarray(vectors[own], dtype=np.float32), own, exact, k)


def deepened(
    index: DeepIndex, trial: RecallTrial, params: DenseParams, least: int, ceiling: DenseRecall | None = None
) -> DenseRecall:
    """Set the search depth of the index and return its recall.

    The depth is ``params.search_depth`` or, if that is None, the first of ``least``, twice ``least``, ... that reaches
    the target recall. ceiling: recall of an exact search of the quantised vectors, which no depth exceeds.
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
