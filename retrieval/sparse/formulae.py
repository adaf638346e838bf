"""BM25 formulas as pure functions of counts.

Shapes: V words in the vocabulary, N chunks, P pairs of a word and a chunk that contains it. df is the number of chunks
that contain a word, tf its count in a chunk, dl the length of a chunk and avgdl the mean length. rank-bm25 follows
Trotman, Puurula and Burgess, "Improvements to BM25 and language models examined", ADCS 2014.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def lucene_idf(frequencies: Counts, chunks: int) -> Floats:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5)), which is always positive.

    Kamphuis et al., ECIR 2020, table 1, "Lucene (accurate)". frequencies: (V,) df. chunks: N. Returns (V,).
    """
    return np.asarray(np.log1p((chunks - frequencies + 0.5) / (frequencies + 0.5)), dtype=np.float64)


def okapi_idf(frequencies: Counts, chunks: int, epsilon: float) -> Floats:
    """Return ln(N - df + 0.5) - ln(df + 0.5), with negative values replaced by epsilon times the mean. Returns (V,).

    This is the rule of rank-bm25's BM25Okapi. The replacement may itself be negative if most words are common. As in
    rank-bm25, the mean is taken over the vocabulary before the replacement and summed in vocabulary order.
    """
    idf = np.log(chunks - frequencies + 0.5) - np.log(frequencies + 0.5)
    if idf.size:
        floor = epsilon * float(np.add.accumulate(idf)[-1]) / idf.size
        idf = np.where(idf < 0, floor, idf)
    return np.asarray(idf, dtype=np.float64)


def bm25l_idf(frequencies: Counts, chunks: int) -> Floats:
    """Return ln(N + 1) - ln(df + 0.5), which is positive. Returns (V,).

    Lv and Zhai, SIGIR 2011, as implemented in rank-bm25's BM25L.
    """
    return np.asarray(np.log(chunks + 1.0) - np.log(frequencies + 0.5), dtype=np.float64)


def plus_idf(frequencies: Counts, chunks: int) -> Floats:
    """Return ln((N + 1) / df), which is positive. Returns (V,).

    Lv and Zhai, CIKM 2011, as implemented in rank-bm25's BM25Plus.
    """
    return np.asarray(np.log((chunks + 1.0) / frequencies), dtype=np.float64)


def relative_length(lengths: Floats, mean_length: float, b: float) -> Floats:
    """Return 1 - b + b dl / avgdl, the length normalisation. It is 1 at the mean length, and always if b is 0."""
    return np.asarray(1 - b + b * lengths / mean_length, dtype=np.float64)


def length_norm(relative: Floats, k1: float) -> Floats:
    """Return k1 (1 - b + b dl / avgdl), the term added to tf in BM25's denominator. relative: ``relative_length``."""
    return np.asarray(k1 * relative, dtype=np.float64)


def lucene_weight(counts: Floats, norms: Floats, idf: Floats) -> Floats:
    """Return idf tf / (tf + norm). All arrays are (P,). Kamphuis et al., ECIR 2020, table 1, "Lucene (accurate)"."""
    return idf * (counts / (counts + norms))


def okapi_weight(counts: Floats, norms: Floats, idf: Floats, k1: float) -> Floats:
    """Return idf tf (k1 + 1) / (tf + norm). All arrays are (P,).

    Robertson et al., TREC-3 1994, as implemented in rank-bm25.
    """
    return idf * (counts * (k1 + 1) / (counts + norms))


def bm25l_weight(counts: Floats, relative: Floats, idf: Floats, k1: float, delta: float) -> Floats:
    """Return idf tf (k1 + 1) (c + delta) / (k1 + c + delta), with c = tf / (1 - b + b dl / avgdl). All arrays are (P,).

    This is BM25L as in rank-bm25 0.2.2. The formula of Lv and Zhai (SIGIR 2011) does not have the factor tf.
    """
    c = counts / relative
    return idf * counts * (k1 + 1) * (c + delta) / (k1 + c + delta)
