"""Hits (index positions with scores), ranked lists of hits, and top-k selection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a search found. position: index of the chunk in the index, from 0."""

    position: int
    score: float


class Hits(Sequence[Hit]):
    """A ranked list, best first, stored as two arrays; Hit objects are created on access.

    Equal to any sequence of the same hits. The arrays must not be modified.
    """

    __slots__ = ("positions", "scores")

    def __init__(self, positions: NDArray[np.int64], scores: NDArray[Any]) -> None:
        """positions, scores: (k,), best first."""
        self.positions: NDArray[np.int64] = positions
        self.scores: NDArray[np.float64] = scores.astype(np.float64, copy=False)

    @classmethod
    def of(cls, hits: Sequence[Hit]) -> Hits:
        """Convert a sequence of hits to arrays."""
        if isinstance(hits, Hits):
            return hits
        positions = np.asarray([hit.position for hit in hits], dtype=np.int64)
        return cls(positions, np.asarray([hit.score for hit in hits], dtype=np.float64))

    def __len__(self) -> int:
        return len(self.positions)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Hits: ...
    def __getitem__(self, index: int | slice) -> Hit | Hits:
        if isinstance(index, slice):
            return Hits(self.positions[index], self.scores[index])
        return Hit(int(self.positions[index]), float(self.scores[index]))

    def __iter__(self) -> Iterator[Hit]:
        return map(Hit, self.positions.tolist(), self.scores.tolist())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Hits):
            return np.array_equal(self.positions, other.positions) and np.array_equal(self.scores, other.scores)
        return tuple(self) == tuple(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Hits({tuple(self)!r})"


NO_HITS = Hits(np.zeros(0, dtype=np.int64), np.zeros(0))


def best_hits(scores: NDArray[Any], candidates: NDArray[np.int64], k: int) -> Hits:
    """Return the k candidates with the highest scores, best first; ties by position, so that results are reproducible.

    scores: (N,) score of every position. candidates: (C,) distinct positions, in any order.
    """
    if k <= 0 or candidates.size == 0:
        return NO_HITS
    values = scores[candidates]
    if candidates.size > k:
        # Keep everything that ties with the k-th score; the position breaks the tie below.
        threshold = np.partition(values, candidates.size - k)[candidates.size - k]
        keep = values >= threshold
        candidates, values = candidates[keep], values[keep]
    return ranked(candidates, values)[:k]


def ranked(positions: NDArray[np.int64], scores: NDArray[Any]) -> Hits:
    """Return all hits, best first, ties by position. positions: (C,) distinct. scores: (C,)."""
    order = np.lexsort((positions, -scores))
    return Hits(positions[order], scores[order])
