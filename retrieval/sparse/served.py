"""A LexicalIndex based on bm25s and precomputed arrays: a sparse matrix with a column for each word."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from numpy.typing import NDArray

from retrieval.errors import RetrievalError
from retrieval.ranking.hits import NO_HITS, Hits, best_hits
from retrieval.sparse.lexical import Allowed, Words

_ARRAYS = ("data", "indices", "indptr")
_HEADER = "bm25_words.json"
_ABSENT = "bm25_absent.npy"


class Bm25Index:
    """A LexicalIndex based on bm25s."""

    def __init__(
        self,
        data: NDArray[Any],
        indices: NDArray[np.int32],
        indptr: NDArray[np.int64],
        words: Words,
        size: int,
        absent: NDArray[np.float64] | None = None,
    ):
        """data, indices: (P,) weight and chunk of each pair of word and chunk, sorted by word, then by chunk.

        indptr: (V + 1,) start of each word's pairs, and their total number. words: (V,) vocabulary. size: number of
        chunks. absent: (V,) weight of a word for a chunk without it, not included in ``data``; None except for BM25+.
        """
        self._size = size
        self._vocabulary = {word: i for i, word in enumerate(words)}
        self._absent = absent
        self._served = bm25s.BM25(dtype=str(data.dtype), int_dtype="int64", backend="numpy")
        self._served.scores = {"data": data, "indices": indices, "indptr": indptr, "num_docs": size}
        self._served.nonoccurrence_array = absent
        self._served.vocab_dict = self._vocabulary

    @property
    def size(self) -> int:
        """N, the number of chunks."""
        return self._size

    @property
    def columns(self) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]:
        """The arrays data, indices and indptr; see ``__init__``."""
        return tuple(self._served.scores[name] for name in _ARRAYS)

    def scores(self, query: Words) -> NDArray[np.float64]:
        """Return the (N,) scores; see ``LexicalIndex``."""
        known = self._word_numbers(query)
        if not known:
            return np.zeros(self._size)
        return np.asarray(self._served.get_scores_from_ids(known), dtype=np.float64)

    def search(self, query: Words, k: int, allowed: Allowed | None = None) -> Hits:
        """Return at most k chunks with at least one query word, best first, ties by position."""
        known = self._word_numbers(query)
        if not known or k <= 0:
            return NO_HITS
        return best_hits(self._served.get_scores_from_ids(known), self._containing(known, allowed), k)

    def search_weighted(self, query: Mapping[str, float], k: int, allowed: Allowed | None = None) -> Hits:
        """Search as ``search`` does, with weighted words. Words with weights of 0 or below are ignored."""
        known = [
            (self._vocabulary[word], weight)
            for word, weight in query.items()
            if weight > 0 and word in self._vocabulary
        ]
        if not known or k <= 0:
            return NO_HITS
        served = self._served.scores
        scores = np.zeros(self._size)
        for word, weight in known:
            column = slice(served["indptr"][word], served["indptr"][word + 1])
            # A chunk occurs only once in a column, so addition with an index array is correct.
            scores[served["indices"][column]] += weight * served["data"][column]
            if self._absent is not None:
                scores += weight * self._absent[word]
        return best_hits(scores, self._containing([word for word, _ in known], allowed), k)

    def save(self, folder: Path) -> None:
        """Write bm25_{data,indices,indptr}.npy, bm25_words.json and, for BM25+, bm25_absent.npy."""
        for name in _ARRAYS:
            np.save(folder / f"bm25_{name}.npy", self._served.scores[name], allow_pickle=False)
        self.save_vocabulary(folder)

    def save_vocabulary(self, folder: Path) -> None:
        """Write the files of ``save`` without the weights: bm25_words.json and, for BM25+, bm25_absent.npy."""
        if self._absent is not None:
            np.save(folder / _ABSENT, self._absent, allow_pickle=False)
        header = {"size": self._size, "words": list(self._vocabulary)}
        (folder / _HEADER).write_text(json.dumps(header, ensure_ascii=False), encoding="utf-8")

    def _word_numbers(self, query: Words) -> list[int]:
        return [self._vocabulary[word] for word in query if word in self._vocabulary]

    def _containing(self, words: list[int], allowed: Allowed | None) -> NDArray[np.int64]:
        """Return the positions of chunks with one of the words. Scores do not tell, as okapi's weights may be 0."""
        indptr, indices = self._served.scores["indptr"], self._served.scores["indices"]
        found = np.zeros(self._size, dtype=bool)
        for word in set(words):
            found[indices[indptr[word] : indptr[word + 1]]] = True
        if allowed is not None:
            found &= allowed
        return np.flatnonzero(found)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """An index without its weights. words: (V,) vocabulary. size: number of chunks. absent: see ``Bm25Index``."""

    words: Words
    size: int
    absent: NDArray[np.float64] | None


def load_vocabulary(folder: Path) -> Vocabulary:
    """Load the files that ``save_vocabulary`` wrote.

    Raises RetrievalError if they are unreadable or inconsistent.
    """
    try:
        absent = np.load(folder / _ABSENT, allow_pickle=False) if (folder / _ABSENT).exists() else None
        header = json.loads((folder / _HEADER).read_text(encoding="utf-8"))
        found = Vocabulary(header["words"], int(header["size"]), absent)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable_error(folder, error) from error
    if absent is not None and absent.shape != (len(found.words),):
        raise inconsistent_error(folder)
    return found


def load_served(folder: Path) -> Bm25Index:
    """Memory-map the files that ``save`` wrote. Pages are read on access and shared between processes.

    Raises RetrievalError if the files are unreadable or inconsistent.
    """
    try:
        data, indices, indptr = (
            np.load(folder / f"bm25_{name}.npy", mmap_mode="r", allow_pickle=False) for name in _ARRAYS
        )
    except (OSError, ValueError) as error:
        raise unreadable_error(folder, error) from error
    known = load_vocabulary(folder)
    if data.shape != indices.shape or indptr.shape != (len(known.words) + 1,) or indptr[-1] != data.size:
        raise inconsistent_error(folder)
    # Use plain arrays over the same pages, because indexing a np.memmap is slower: it creates a new np.memmap.
    arrays = (np.asarray(data), np.asarray(indices), np.asarray(indptr))
    return Bm25Index(*arrays, known.words, known.size, known.absent)


def unreadable_error(folder: Path, error: Exception) -> RetrievalError:
    """Return the error for BM25 files that cannot be read."""
    return RetrievalError(f"the BM25 index in {folder} cannot be read ({error}); index the collection again")


def inconsistent_error(folder: Path) -> RetrievalError:
    """Return the error for BM25 files that contradict each other."""
    return RetrievalError(f"the BM25 files in {folder} are inconsistent; index the collection again")
