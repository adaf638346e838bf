"""Maximal marginal relevance: select chunks that are relevant and dissimilar to those already selected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from retrieval.chunking.chunks import RetrievedChunk
from retrieval.ranking.fusion import min_max


@dataclass(frozen=True, slots=True)
class MmrParams:
    """Parameters of maximal marginal relevance.

    relevance: lambda, the weight of relevance against novelty, in [0, 1]; 1 keeps the order. depth: number of
    top-ranked chunks that are reordered.
    """

    relevance: float = 0.7
    depth: int = 50

    def __post_init__(self) -> None:
        if not 0 <= self.relevance <= 1:
            raise ValueError(f"MMR's weight of relevance must lie in [0, 1], not {self.relevance}")
        if self.depth < 1:
            raise ValueError(f"MMR's depth must be at least 1, not {self.depth}")


def mmr_order(relevance: NDArray[np.float64], similarity: NDArray[np.float64], weight: float, k: int) -> list[int]:
    """Return the indices of k items in the order in which maximal marginal relevance selects them; ties by index.

    Each step selects the argmax of lambda relevance - (1 - lambda) max similarity to the selected items (Carbonell and
    Goldstein, SIGIR 1998). relevance: (C,). similarity: (C, C). weight: lambda.
    """
    chosen: list[int] = []
    nearest = np.full(len(relevance), -np.inf)
    available = np.ones(len(relevance), dtype=bool)
    while len(chosen) < min(k, len(relevance)):
        novelty = nearest if chosen else np.zeros(len(relevance))
        values = np.where(available, weight * relevance - (1.0 - weight) * novelty, -np.inf)
        best = int(np.argmax(values))
        chosen.append(best)
        available[best] = False
        nearest = np.maximum(nearest, similarity[best])
    return chosen


def diversify(
    found: Sequence[RetrievedChunk], vectors: NDArray[np.float32], params: MmrParams, k: int
) -> tuple[RetrievedChunk, ...]:
    """Return the k chunks that MMR selects among the first ``depth``, in its order, then the others in their order.

    vectors: (C, E) unit vectors of the first ``depth`` chunks. Relevance is the score, min-max normalised over these
    chunks; similarity is the cosine. Scores are unchanged, so they may increase along the list.
    """
    head, tail = list(found[: params.depth]), list(found[params.depth :])
    if not head:
        return tuple(found)
    relevance = min_max([item.score for item in head])
    similarity = (vectors @ vectors.T).astype(np.float64)
    order = mmr_order(relevance, similarity, params.relevance, k)
    rest = [i for i in range(len(head)) if i not in set(order)]
    items = [*(head[i] for i in (*order, *rest)), *tail]
    return tuple(replace(item, rank=rank) for rank, item in enumerate(items, start=1))
