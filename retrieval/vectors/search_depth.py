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
    measure_recall,
    sampled_positions,
    without_query,
)

_K = 10
_QUERY_COUNT = 200
_CEILING_MARGIN = 0.005
"""Distance to the greatest recall that quantisation allows at which the search for a depth stops.

Each halving of the remaining distance would double the time of a search.
"""


class SearchDepthIndex(Protocol):
    """An approximate index with a search depth."""

    @property
    def max_search_depth(self) -> int:
        """Greatest useful search depth."""

    def set_search_depth(self, depth: int) -> None:
        """Set the search depth."""

    def search(self, queries: Vectors, k: int) -> tuple[Hits, ...]:
        """Return approximately the k best chunks for each of the (Q, E) queries, best first."""


@dataclass(frozen=True, slots=True)
class RecallTrial:
    """A sample of stored vectors that are used as queries.

    queries: (Q, E) vectors. positions: (Q,) their positions. exact: (Q, k) nearest neighbours by exact search.
    """

    queries: Vectors
    positions: Positions
    exact: Positions
    k: int

    def recall(self, found: Positions, depth: int | None) -> DenseRecall:
        """Return the recall of search results. found: (Q, k + 1) positions, -1 where there are fewer."""
        return measure_recall(without_query(found, self.positions, self.k), self.exact, self.k, depth)


def recall_trial(vectors: Vectors, progress: Callable[[int, int], None] | None = None) -> RecallTrial:
    """Draw queries from at least 2 vectors and find their exact neighbours.

    progress: called with (N, N) for each block of the N vectors.
    """
    count = len(vectors)
    positions = sampled_positions(count, _QUERY_COUNT, seed=1)
    k = min(_K, count - 1)
    exact = exact_neighbours(vectors, positions, k, progress=lambda _: progress(count, count) if progress else None)
    return RecallTrial(np.ascontiguousarray(vectors[positions], dtype=np.float32), positions, exact, k)


def tune_search_depth(
    index: SearchDepthIndex, trial: RecallTrial, params: DenseParams, smallest: int, ceiling: DenseRecall | None = None
) -> DenseRecall:
    """Set the search depth of the index and return its recall.

    The depth is ``params.search_depth`` or, if that is None, the first of ``smallest``, twice ``smallest``, ... that
    reaches the target recall. ceiling: recall of an exact search of the quantised vectors, which no depth exceeds.
    """
    target = params.target_recall if ceiling is None else min(params.target_recall, ceiling.recall - _CEILING_MARGIN)
    depth = min(params.search_depth or smallest, index.max_search_depth)
    while True:
        index.set_search_depth(depth)
        k = trial.k + 1
        found = np.asarray(
            [hits.positions.tolist() + [-1] * (k - len(hits)) for hits in index.search(trial.queries, k)]
        )
        recall = trial.recall(found, depth)
        if params.search_depth is not None or recall.recall >= target or depth >= index.max_search_depth:
            return recall
        depth = min(2 * depth, index.max_search_depth)
