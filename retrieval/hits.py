"""The Hit: a chunk's position in an index with a score, and picking the best. Knows nothing of what scored it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Hit:
    """position: of the chunk in its index, from 0. In a result list the rank is the place in the list, from 1."""

    position: int
    score: float


def best_hits(scores: NDArray[Any], candidates: NDArray[np.int64], k: int) -> tuple[Hit, ...]:
    """The k candidates with the highest scores, best first; equal scores by position, so that runs repeat exactly.

    scores: (N,), one for every position. candidates: (C,) distinct positions, any order.
    """
    if k <= 0 or candidates.size == 0:
        return ()
    values = scores[candidates]
    if candidates.size > k:
        # Everything that ties with the k-th score stays in: which of them is kept is decided by position below.
        threshold = np.partition(values, candidates.size - k)[candidates.size - k]
        keep = values >= threshold
        candidates, values = candidates[keep], values[keep]
    order = np.lexsort((candidates, -values))[:k]
    return tuple(map(Hit, candidates[order].tolist(), values[order].tolist()))
