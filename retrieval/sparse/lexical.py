"""What an index of words is, whatever serves it. Knows nothing of text: words in, positions out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.ranking.hits import Hits

Words = Sequence[str]
Allowed = NDArray[np.bool_]
"""(N,) which chunks may be found; None where a parameter allows all."""


class LexicalIndex(Protocol):
    """Chunks by the words they share with a query."""

    @property
    def size(self) -> int:
        """N, the number of chunks."""

    def scores(self, query: Words) -> NDArray[np.float64]:
        """(N,) scores as the weighting defines them. A word given twice counts twice.

        0 for a chunk that holds no word of the query, except under BM25+, which gives it delta idf of each known word.
        """

    def search(self, query: Words, k: int, allowed: Allowed | None = None) -> Hits:
        """At most k chunks that hold at least one word of the query, best first, equal scores by position."""

    def search_weighted(self, query: Mapping[str, float], k: int, allowed: Allowed | None = None) -> Hits:
        """``search`` for words that count as often as their weights say; weights of 0 and below are left out."""

    def save(self, folder: Path) -> None:
        """Write plain .npy and .json files into the folder, which must exist."""
