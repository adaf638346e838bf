"""Build and load BM25 indexes of tokenised chunks, based on bm25s, or on rank-bm25 as the reference.

bm25s has no method that gives rank-bm25's scores. Its arrays (a sparse matrix with a column for each word) are
therefore filled with weights from retrieval/sparse/formulae.py. The functions work on words and positions, not on text.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.sparse.formulae import (
    Floats,
    bm25l_idf,
    bm25l_weight,
    length_norm,
    lucene_idf,
    lucene_weight,
    okapi_idf,
    okapi_weight,
    plus_idf,
    relative_length,
)
from retrieval.sparse.lexical import Allowed, LexicalIndex, Words
from retrieval.sparse.params import REFERENCE_BM25, Bm25Params
from retrieval.sparse.reference import RankBm25Index, load_reference
from retrieval.sparse.served import Bm25Index, load_served

__all__ = [
    "REFERENCE_BM25",
    "Allowed",
    "Bm25Builder",
    "Bm25Index",
    "Bm25Params",
    "LexicalIndex",
    "RankBm25Index",
    "Words",
    "build_bm25",
    "load_bm25",
]


class Bm25Builder:
    """A builder that collects the words of one chunk after another and then creates the index.

    It keeps 8 bytes for every distinct word of every chunk. ``build`` allocates 8 more (12 for rank-bm25's weightings,
    which are float64) and works in blocks: 30 million pairs of word and chunk need about 0.6 GB at the peak.
    """

    def __init__(self, params: Bm25Params):
        self._params = params
        self._vocabulary: dict[str, int] = {}
        self._ids = array("i")
        self._counts = array("i")
        self._pairs = array("i")
        self._lengths = array("i")
        self._chunks: list[Words] = []

    def add(self, words: Words) -> None:
        """Add the words of the next chunk.

        A chunk without words is never found, but it counts in N and in the mean length.
        """
        if self._params.backend == "rank-bm25":
            self._chunks.append(words)
            return
        counted = Counter(words)
        self._ids.extend(self._vocabulary.setdefault(word, len(self._vocabulary)) for word in counted)
        self._counts.extend(counted.values())
        self._pairs.append(len(counted))
        self._lengths.append(len(words))

    def build(self) -> LexicalIndex:
        """Build the index of all added chunks."""
        params = self._params
        if params.backend == "rank-bm25":
            return RankBm25Index(self._chunks, params)
        size = len(self._lengths)
        dtype = np.float32 if params.weighting == "lucene" else np.float64
        words, counts = np.frombuffer(self._ids, dtype=np.int32), np.frombuffer(self._counts, dtype=np.int32)
        data, indices = np.zeros(len(words), dtype=dtype), np.zeros(len(words), dtype=np.int32)
        frequencies = np.zeros(len(self._vocabulary), dtype=np.int64)
        for block in _blocks(len(words)):
            frequencies += np.bincount(words[block], minlength=len(frequencies))
        indptr = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(frequencies)])
        if not self._vocabulary:
            return Bm25Index(data, indices, indptr, (), size)
        lengths = np.asarray(self._lengths, dtype=np.float64)
        weigher = _weigher(frequencies, relative_length(lengths, float(lengths.mean()), params.b), params)
        ends = np.cumsum(np.asarray(self._pairs, dtype=np.int64))
        free = indptr[:-1].copy()
        for block in _blocks(len(words)):
            # A stable sort by word keeps the chunks in order, and a running count gives the position in a column.
            order = np.argsort(words[block], kind="stable")
            word = words[block][order]
            chunk = np.searchsorted(ends, np.arange(block.start, block.stop)[order], side="right")
            groups, starts, lengths_of = np.unique(word, return_index=True, return_counts=True)
            slots = free[word] + np.arange(len(word)) - np.repeat(starts, lengths_of)
            free[groups] += lengths_of
            indices[slots] = chunk
            data[slots] = weigher.weigh(counts[block][order].astype(np.float64), word, chunk)
        return Bm25Index(data, indices, indptr, tuple(self._vocabulary), size, weigher.absent)


_BLOCK = 1 << 20


def _blocks(count: int) -> Iterator[slice]:
    for start in range(0, count, _BLOCK):
        yield slice(start, min(start + _BLOCK, count))


@dataclass(frozen=True, slots=True)
class _TermWeights:
    """The weights of a BM25 variant.

    weigh: maps (P,) counts, words and chunks to (P,) weights. absent: (V,) weight of a word for a chunk without it;
    None if that is 0.
    """

    weigh: Callable[[Floats, NDArray[np.int32], NDArray[np.int64]], Floats]
    absent: Floats | None = None


def _weigher(frequencies: NDArray[np.int64], relative: Floats, params: Bm25Params) -> _TermWeights:
    """Return the weights that ``params`` select.

    frequencies: (V,) number of chunks with each word. relative: (N,) relative lengths of the chunks.
    """
    size = len(relative)
    norms = length_norm(relative, params.k1)
    if params.weighting == "lucene":
        lucene = lucene_idf(frequencies, size)
        return _TermWeights(lambda tf, word, chunk: lucene_weight(tf, norms[chunk], lucene[word]))
    if params.weighting == "okapi":
        okapi = okapi_idf(frequencies, size, params.epsilon)
        return _TermWeights(lambda tf, word, chunk: okapi_weight(tf, norms[chunk], okapi[word], params.k1))
    if params.weighting == "bm25l":
        long = bm25l_idf(frequencies, size)
        return _TermWeights(
            lambda tf, word, chunk: bm25l_weight(tf, relative[chunk], long[word], params.k1, params.shift)
        )
    # BM25+ adds delta idf of every query word even to chunks without the word, so this term is kept separately.
    plus = plus_idf(frequencies, size)
    return _TermWeights(
        lambda tf, word, chunk: okapi_weight(tf, norms[chunk], plus[word], params.k1), plus * params.shift
    )


def build_bm25(chunks: Iterable[Words], params: Bm25Params) -> LexicalIndex:
    """Build an index of the words of N chunks."""
    builder = Bm25Builder(params)
    for words in chunks:
        builder.add(words)
    return builder.build()


def load_bm25(folder: Path, params: Bm25Params) -> LexicalIndex:
    """Load the files that ``save`` wrote; bm25s's arrays are memory-mapped. The caller must check the hashes first.

    Raises RetrievalError if the files are unreadable or inconsistent.
    """
    return load_reference(folder, params) if params.backend == "rank-bm25" else load_served(folder)
