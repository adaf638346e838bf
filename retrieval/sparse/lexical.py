"""Define the LexicalIndex interface, which works on words and positions, not on text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.ranking.hits import Hits

Words = Sequence[str]
Allowed = NDArray[np.bool_]
"""(N,) mask of the chunks that may be returned. A parameter that is None allows all chunks."""


class LexicalIndex(Protocol):
    """An index that finds chunks by the words that they share with a query."""

    @property
    def size(self) -> int:
        """N, the number of chunks."""

    def scores(self, query: Words) -> NDArray[np.float64]:
        """Return the (N,) scores that the weighting defines. A word that occurs twice in the query counts twice.

        The score of a chunk without a query word is 0, except under BM25+, which adds delta idf of each known word.
        """

    def search(self, query: Words, k: int, allowed: Allowed | None = None) -> Hits:
        """Return at most k chunks with at least one query word, best first, ties by position."""

    def search_weighted(self, query: Mapping[str, float], k: int, allowed: Allowed | None = None) -> Hits:
        """Search as ``search`` does, with weighted words. Words with weights of 0 or below are ignored."""

    def save(self, folder: Path) -> None:
        """Write the index as .npy and .json files into the folder, which must exist."""
