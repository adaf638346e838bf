"""The LexicalIndex interface. Works on words and positions, not on text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.ranking.hits import Hits

Words = Sequence[str]
Allowed = NDArray[np.bool_]
"""(N,) mask of the chunks that may be returned; a parameter of None allows all."""


class LexicalIndex(Protocol):
    """Finds chunks by the words they share with a query."""

    @property
    def size(self) -> int:
        """N, the number of chunks."""

    def scores(self, query: Words) -> NDArray[np.float64]:
        """(N,) scores as the weighting defines them. A repeated word counts twice.

        0 for a chunk without a query word, except under BM25+, which adds delta idf of each known word.
        """

    def search(self, query: Words, k: int, allowed: Allowed | None = None) -> Hits:
        """Return at most k chunks with at least one query word, best first, ties by position."""

    def search_weighted(self, query: Mapping[str, float], k: int, allowed: Allowed | None = None) -> Hits:
        """``search`` with weighted words; words with weights of 0 and below are ignored."""

    def save(self, folder: Path) -> None:
        """Write .npy and .json files into the folder, which must exist."""
