"""A LexicalIndex based on rank-bm25. It is slow and serves as the reference."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import rank_bm25
from numpy.typing import NDArray

from retrieval.errors import RetrievalError
from retrieval.ranking.hits import Hits, best_hits
from retrieval.sparse.lexical import Allowed, Words
from retrieval.sparse.params import Bm25Params

_FILE = "bm25_chunks.json"


class RankBm25Index:
    """A LexicalIndex based on rank-bm25's BM25Okapi, BM25L or BM25Plus."""

    def __init__(self, chunks: Sequence[Words], params: Bm25Params):
        self._chunks = tuple(tuple(words) for words in chunks)
        # rank-bm25 divides by the size of the vocabulary and by the mean length, so it needs at least one word.
        self._served = _build([list(words) for words in self._chunks], params) if any(self._chunks) else None

    @property
    def size(self) -> int:
        """N, the number of chunks."""
        return len(self._chunks)

    def scores(self, query: Words) -> NDArray[np.float64]:
        """Return the (N,) scores; see ``LexicalIndex``."""
        if self._served is None:
            return np.zeros(self.size)
        return np.asarray(self._served.get_scores(list(query)), dtype=np.float64)

    def search(self, query: Words, k: int, allowed: Allowed | None = None) -> Hits:
        """Return at most k chunks with at least one query word, best first, ties by position."""
        return best_hits(self.scores(query), self._containing(query, allowed), k)

    def search_weighted(self, query: Mapping[str, float], k: int, allowed: Allowed | None = None) -> Hits:
        """Search as ``search`` does, with weighted words. Words with weights of 0 or below are ignored."""
        scores = np.zeros(self.size)
        positive = {word: weight for word, weight in query.items() if weight > 0}
        for word, weight in positive.items():
            scores += weight * self.scores((word,))
        return best_hits(scores, self._containing(tuple(positive), allowed), k)

    def save(self, folder: Path) -> None:
        """Write the words of every chunk to bm25_chunks.json. The index is rebuilt from them when it is loaded."""
        (folder / _FILE).write_text(json.dumps(self._chunks, ensure_ascii=False), encoding="utf-8")

    def _containing(self, query: Words, allowed: Allowed | None) -> NDArray[np.int64]:
        query_words = set(query)
        found = [
            i
            for i, words in enumerate(self._chunks)
            if (allowed is None or allowed[i]) and not query_words.isdisjoint(words)
        ]
        return np.asarray(found, dtype=np.int64)


def load_reference(folder: Path, params: Bm25Params) -> RankBm25Index:
    """Load the file that ``save`` wrote. Raises RetrievalError if it is unreadable."""
    try:
        return RankBm25Index(json.loads((folder / _FILE).read_text(encoding="utf-8")), params)
    except (OSError, ValueError, TypeError) as error:
        raise RetrievalError(
            f"the BM25 index in {folder} cannot be read ({error}); index the collection again"
        ) from error


def _build(chunks: list[list[str]], params: Bm25Params) -> Any:
    if params.weighting == "bm25l":
        return rank_bm25.BM25L(chunks, k1=params.k1, b=params.b, delta=params.shift)
    if params.weighting == "bm25+":
        return rank_bm25.BM25Plus(chunks, k1=params.k1, b=params.b, delta=params.shift)
    return rank_bm25.BM25Okapi(chunks, k1=params.k1, b=params.b, epsilon=params.epsilon)
