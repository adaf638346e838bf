"""BM25 over tokenised chunks: weights computed here, served by bm25s, or by rank-bm25 as the reference.

bm25s has no method that gives rank-bm25's scores, so its arrays (a sparse matrix, one column a word) are filled with
weights from bm25_formulae. Knows nothing of text: words in, positions out.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import bm25s
import numpy as np
import rank_bm25
from numpy.typing import NDArray

from retrieval.bm25_formulae import length_norm, lucene_idf, lucene_weight, okapi_idf, okapi_weight
from retrieval.errors import RetrievalError
from retrieval.hits import Hit, best_hits

Words = Sequence[str]


@dataclass(frozen=True, slots=True)
class Bm25Params:
    """weighting: "lucene" (the default for quality) or "okapi" (rank-bm25's scores). backend: what serves.

    "rank-bm25" serves okapi only, some 30 times slower, and is there to be compared with. epsilon: okapi's floor.
    """

    weighting: Literal["lucene", "okapi"] = "lucene"
    k1: float = 0.9
    b: float = 0.4
    epsilon: float = 0.25
    backend: Literal["bm25s", "rank-bm25"] = "bm25s"

    def __post_init__(self) -> None:
        if self.weighting not in ("lucene", "okapi"):
            raise ValueError(f"weighting must be 'lucene' or 'okapi', not {self.weighting!r}")
        if self.backend not in ("bm25s", "rank-bm25"):
            raise ValueError(f"backend must be 'bm25s' or 'rank-bm25', not {self.backend!r}")
        if self.backend == "rank-bm25" and self.weighting != "okapi":
            raise ValueError("backend 'rank-bm25' has the weighting 'okapi' only")
        if self.k1 < 0 or not 0 <= self.b <= 1 or self.epsilon < 0:
            raise ValueError(f"need k1 >= 0, 0 <= b <= 1, epsilon >= 0, not {self.k1}, {self.b}, {self.epsilon}")


REFERENCE_BM25 = Bm25Params(weighting="okapi", k1=1.5, b=0.75)
"""rank-bm25's own defaults."""


class LexicalIndex(Protocol):
    """Chunks by the words they share with a query."""

    @property
    def size(self) -> int:
        """N, the number of chunks."""

    def scores(self, query: Words) -> NDArray[np.float64]:
        """(N,) scores; 0 for a chunk that holds no word of the query. A word given twice counts twice."""

    def search(self, query: Words, k: int) -> tuple[Hit, ...]:
        """At most k chunks that hold at least one word of the query, best first, equal scores by position."""

    def save(self, folder: Path) -> None:
        """Write plain .npy and .json files into the folder, which must exist."""


class Bm25Index:
    """The LexicalIndex served by bm25s."""

    def __init__(
        self, data: NDArray[Any], indices: NDArray[np.int32], indptr: NDArray[np.int64], words: Words, size: int
    ):
        """data, indices: (P,) weight and chunk of each pair, by word, then by chunk. indptr: (V + 1,). words: (V,)."""
        self._size = size
        self._vocabulary = {word: i for i, word in enumerate(words)}
        self._served = bm25s.BM25(dtype=str(data.dtype), int_dtype="int64", backend="numpy")
        self._served.scores = {"data": data, "indices": indices, "indptr": indptr, "num_docs": size}
        self._served.nonoccurrence_array = None
        self._served.vocab_dict = self._vocabulary

    @property
    def size(self) -> int:
        """N, the number of chunks."""
        return self._size

    def scores(self, query: Words) -> NDArray[np.float64]:
        """(N,) scores; 0 for a chunk that holds no word of the query. A word given twice counts twice."""
        known = self._known(query)
        if not known:
            return np.zeros(self._size)
        return np.asarray(self._served.get_scores_from_ids(known), dtype=np.float64)

    def search(self, query: Words, k: int) -> tuple[Hit, ...]:
        """At most k chunks that hold at least one word of the query, best first, equal scores by position."""
        known = self._known(query)
        if not known:
            return ()
        # Chunks that hold a word, not chunks with a positive score: okapi weights may be 0 or negative.
        indptr, indices = self._served.scores["indptr"], self._served.scores["indices"]
        found = np.zeros(self._size, dtype=bool)
        for word in set(known):
            found[indices[indptr[word] : indptr[word + 1]]] = True
        return best_hits(self._served.get_scores_from_ids(known), np.flatnonzero(found), k)

    def save(self, folder: Path) -> None:
        """Write bm25_{data,indices,indptr}.npy and bm25_words.json."""
        for name in ("data", "indices", "indptr"):
            np.save(folder / f"bm25_{name}.npy", self._served.scores[name], allow_pickle=False)
        header = {"size": self._size, "words": list(self._vocabulary)}
        (folder / "bm25_words.json").write_text(json.dumps(header, ensure_ascii=False), encoding="utf-8")

    def _known(self, query: Words) -> list[int]:
        return [self._vocabulary[word] for word in query if word in self._vocabulary]


class RankBm25Index:
    """The LexicalIndex served by rank-bm25's BM25Okapi: the reference, slow."""

    def __init__(self, chunks: Sequence[Words], params: Bm25Params):
        self._chunks = tuple(tuple(words) for words in chunks)
        self._params = params
        # BM25Okapi divides by the size of the vocabulary and by the mean length, so it cannot be built without a word.
        self._served = (
            rank_bm25.BM25Okapi(
                [list(words) for words in self._chunks], k1=params.k1, b=params.b, epsilon=params.epsilon
            )
            if any(self._chunks)
            else None
        )

    @property
    def size(self) -> int:
        """N, the number of chunks."""
        return len(self._chunks)

    def scores(self, query: Words) -> NDArray[np.float64]:
        """(N,) scores; 0 for a chunk that holds no word of the query. A word given twice counts twice."""
        if self._served is None:
            return np.zeros(self.size)
        return np.asarray(self._served.get_scores(list(query)), dtype=np.float64)

    def search(self, query: Words, k: int) -> tuple[Hit, ...]:
        """At most k chunks that hold at least one word of the query, best first, equal scores by position."""
        wanted = set(query)
        found = [i for i, words in enumerate(self._chunks) if not wanted.isdisjoint(words)]
        return best_hits(self.scores(query), np.asarray(found, dtype=np.int64), k)

    def save(self, folder: Path) -> None:
        """Write bm25_chunks.json, the words of every chunk, from which the index is built anew."""
        (folder / "bm25_chunks.json").write_text(json.dumps(self._chunks, ensure_ascii=False), encoding="utf-8")


class Bm25Builder:
    """Takes the words of one chunk after another; ``build`` makes the index. Keeps numbers, not words."""

    def __init__(self, params: Bm25Params):
        self._params = params
        self._vocabulary: dict[str, int] = {}
        self._ids = array("q")
        self._lengths = array("q")
        self._chunks: list[Words] = []

    def add(self, words: Words) -> None:
        """The words of the next chunk. One without a word is never found; it counts in N and in the mean length."""
        if self._params.backend == "rank-bm25":
            self._chunks.append(words)
            return
        self._ids.extend(self._vocabulary.setdefault(word, len(self._vocabulary)) for word in words)
        self._lengths.append(len(words))

    def build(self) -> LexicalIndex:
        """The index of all chunks added."""
        params = self._params
        if params.backend == "rank-bm25":
            return RankBm25Index(self._chunks, params)
        size = len(self._lengths)
        lengths = np.asarray(self._lengths, dtype=np.int64)
        dtype = np.float64 if params.weighting == "okapi" else np.float32
        if not self._vocabulary:
            none = np.zeros(0, dtype=np.int32)
            return Bm25Index(np.zeros(0, dtype=dtype), none, np.zeros(1, dtype=np.int64), (), size)
        # Pairs (word, chunk) as one number, so that sorting them gives the columns in order, with their counts.
        keys = np.asarray(self._ids, dtype=np.int64) * size + np.repeat(np.arange(size), lengths)
        pairs, counts = np.unique(keys, return_counts=True)
        word, chunk = np.divmod(pairs, size)
        frequencies = np.bincount(word, minlength=len(self._vocabulary)).astype(np.int64)
        norms = length_norm(lengths[chunk].astype(np.float64), float(lengths.mean()), params.k1, params.b)
        tf = counts.astype(np.float64)
        if params.weighting == "okapi":
            weights = okapi_weight(tf, norms, okapi_idf(frequencies, size, params.epsilon)[word], params.k1)
        else:
            weights = lucene_weight(tf, norms, lucene_idf(frequencies, size)[word])
        indptr = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(frequencies)])
        return Bm25Index(weights.astype(dtype), chunk.astype(np.int32), indptr, tuple(self._vocabulary), size)


def build_bm25(chunks: Iterable[Words], params: Bm25Params) -> LexicalIndex:
    """Index the words of N chunks."""
    builder = Bm25Builder(params)
    for words in chunks:
        builder.add(words)
    return builder.build()


def load_bm25(folder: Path, params: Bm25Params) -> LexicalIndex:
    """Read what ``save`` wrote. The files' hashes are to be checked before (generations.py).

    Raises RetrievalError if the files cannot be read or do not fit each other.
    """
    try:
        if params.backend == "rank-bm25":
            return RankBm25Index(json.loads((folder / "bm25_chunks.json").read_text(encoding="utf-8")), params)
        data, indices, indptr = (
            np.load(folder / f"bm25_{name}.npy", allow_pickle=False) for name in ("data", "indices", "indptr")
        )
        header = json.loads((folder / "bm25_words.json").read_text(encoding="utf-8"))
        words, size = header["words"], int(header["size"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RetrievalError(
            f"the BM25 index in {folder} cannot be read ({error}); index the collection again"
        ) from error
    if data.shape != indices.shape or indptr.shape != (len(words) + 1,) or indptr[-1] != data.size:
        raise RetrievalError(f"the BM25 files in {folder} do not fit each other; index the collection again")
    return Bm25Index(data, indices, indptr, words, size)
