"""BM25 as pure functions of counts. Shapes: V vocabulary, N chunks, P pairs of a word and a chunk that holds it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def lucene_idf(frequencies: NDArray[np.int64], chunks: int) -> Floats:
    """ln(1 + (N - df + 0.5) / (df + 0.5)), always positive: Kamphuis et al., ECIR 2020, table 1, "Lucene (accurate)".

    frequencies: (V,) chunks that hold the word. Result: (V,).
    """
    return np.asarray(np.log1p((chunks - frequencies + 0.5) / (frequencies + 0.5)), dtype=np.float64)


def okapi_idf(frequencies: NDArray[np.int64], chunks: int, epsilon: float) -> Floats:
    """ln(N - df + 0.5) - ln(df + 0.5), with negative values replaced by epsilon times the mean over the vocabulary.

    This is the rule of rank-bm25's BM25Okapi, and its floor may itself be negative where most words are common. The
    mean is taken before the replacement and summed in vocabulary order (first seen first), as there. Result: (V,).
    """
    idf = np.log(chunks - frequencies + 0.5) - np.log(frequencies + 0.5)
    if idf.size:
        floor = epsilon * float(np.add.accumulate(idf)[-1]) / idf.size
        idf = np.where(idf < 0, floor, idf)
    return np.asarray(idf, dtype=np.float64)


def length_norm(lengths: Floats, mean_length: float, k1: float, b: float) -> Floats:
    """k1 (1 - b + b dl / avgdl), the term beside tf in the denominator of every BM25; shape of ``lengths``."""
    return np.asarray(k1 * (1 - b + b * lengths / mean_length), dtype=np.float64)


def lucene_weight(counts: Floats, norms: Floats, idf: Floats) -> Floats:
    """idf tf / (tf + norm): Kamphuis et al., ECIR 2020, table 1, "Lucene (accurate)". All (P,)."""
    return idf * (counts / (counts + norms))


def okapi_weight(counts: Floats, norms: Floats, idf: Floats, k1: float) -> Floats:
    """idf tf (k1 + 1) / (tf + norm): Robertson et al., TREC-3 1994, as rank-bm25 writes it. All (P,)."""
    return idf * (counts * (k1 + 1) / (counts + norms))
