"""BM25 as pure functions of counts. Shapes: V vocabulary, N chunks, P pairs of a word and a chunk that holds it.

rank-bm25 follows Trotman, Puurula and Burgess, "Improvements to BM25 and language models examined", ADCS 2014.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def lucene_idf(frequencies: Counts, chunks: int) -> Floats:
    """ln(1 + (N - df + 0.5) / (df + 0.5)), always positive: Kamphuis et al., ECIR 2020, table 1, "Lucene (accurate)".

    frequencies: (V,) chunks that hold the word. Result: (V,).
    """
    return np.asarray(np.log1p((chunks - frequencies + 0.5) / (frequencies + 0.5)), dtype=np.float64)


def okapi_idf(frequencies: Counts, chunks: int, epsilon: float) -> Floats:
    """ln(N - df + 0.5) - ln(df + 0.5), with negative values replaced by epsilon times the mean over the vocabulary.

    This is the rule of rank-bm25's BM25Okapi, and its floor may itself be negative where most words are common. The
    mean is taken before the replacement and summed in vocabulary order (first seen first), as there. Result: (V,).
    """
    idf = np.log(chunks - frequencies + 0.5) - np.log(frequencies + 0.5)
    if idf.size:
        floor = epsilon * float(np.add.accumulate(idf)[-1]) / idf.size
        idf = np.where(idf < 0, floor, idf)
    return np.asarray(idf, dtype=np.float64)


def bm25l_idf(frequencies: Counts, chunks: int) -> Floats:
    """ln(N + 1) - ln(df + 0.5), positive: Lv and Zhai, SIGIR 2011, as implemented in rank-bm25's BM25L.

    Result: (V,).
    """
    return np.asarray(np.log(chunks + 1.0) - np.log(frequencies + 0.5), dtype=np.float64)


def plus_idf(frequencies: Counts, chunks: int) -> Floats:
    """ln((N + 1) / df), positive: Lv and Zhai, CIKM 2011, as implemented in rank-bm25's BM25Plus. Result: (V,)."""
    return np.asarray(np.log((chunks + 1.0) / frequencies), dtype=np.float64)


def relative_length(lengths: Floats, mean_length: float, b: float) -> Floats:
    """1 - b + b dl / avgdl, the length normalisation factor: 1 at the mean length, or always if b = 0."""
    return np.asarray(1 - b + b * lengths / mean_length, dtype=np.float64)


def length_norm(relative: Floats, k1: float) -> Floats:
    """k1 (1 - b + b dl / avgdl), the term beside tf in the denominator of BM25. relative: see ``relative_length``."""
    return np.asarray(k1 * relative, dtype=np.float64)


def lucene_weight(counts: Floats, norms: Floats, idf: Floats) -> Floats:
    """idf tf / (tf + norm): Kamphuis et al., ECIR 2020, table 1, "Lucene (accurate)". All (P,)."""
    return idf * (counts / (counts + norms))


def okapi_weight(counts: Floats, norms: Floats, idf: Floats, k1: float) -> Floats:
    """idf tf (k1 + 1) / (tf + norm): Robertson et al., TREC-3 1994, as implemented in rank-bm25. All (P,)."""
    return idf * (counts * (k1 + 1) / (counts + norms))


def bm25l_weight(counts: Floats, relative: Floats, idf: Floats, k1: float, delta: float) -> Floats:
    """idf tf (k1 + 1) (c + delta) / (k1 + c + delta), c = tf / (1 - b + b dl / avgdl): rank-bm25's BM25L. All (P,).

    Lv and Zhai (SIGIR 2011) do not have the factor tf; rank-bm25 0.2.2 does, so these are its scores.
    """
    c = counts / relative
    return idf * counts * (k1 + 1) * (c + delta) / (k1 + c + delta)
