"""Search FAISS indexes of all kinds, with validated queries, filters, thread control and reproducible scores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

from retrieval.errors import RetrievalError
from retrieval.ranking.hits import NO_HITS, Hits, ranked

Vectors = NDArray[np.float32]
Allowed = NDArray[np.bool_]
"""(N,) mask of the chunks that may be returned. A parameter that is None allows all chunks."""

# The type stubs of FAISS lack arguments that its Python layer accepts.
_FAISS: Any = faiss
# FAISS uses BLAS for a batch only if queries times dimensions exceed a threshold, 128,000 by default (334 queries of
# 384 dimensions). BLAS is several times faster from about 8 queries on; for fewer queries the plain loop is faster.
_BLAS_MIN_QUERIES = 8
_BLAS_THRESHOLD, _DEFAULT_BLAS_THRESHOLD = 1_000, 128_000
# If few vectors are allowed, a graph search visits many others and may miss some, so the search is exact.
_EXACT_SHARE, _EXACT_COUNT = 0.1, 20_000
_MAX_SEARCH_DEPTH = 1_024


class VectorIndex(Protocol):
    """An index that finds chunks by the similarity of their vectors to the query's vector."""

    @property
    def size(self) -> int:
        """N, the number of vectors."""

    @property
    def dimension(self) -> int:
        """E, the length of a vector."""

    def search(self, queries: Vectors, k: int, allowed: Allowed | None = None) -> tuple[Hits, ...]:
        """Return the k best chunks for each of the (Q, E) queries, best first, ties by position.

        Returns fewer if fewer are allowed.
        """

    def vectors(self, positions: NDArray[np.int64]) -> Vectors:
        """Return the stored vectors (P, E) at these positions."""


def check_queries(queries: Vectors, allowed: Allowed | None, size: int, dimension: int) -> None:
    """Raise RetrievalError for queries of another dimension or with a NaN, or a mask of another length."""
    if queries.ndim != 2 or queries.shape[1] != dimension:
        raise RetrievalError(
            f"query vectors have the shape {queries.shape}, the index has {dimension} dimensions: "
            "use the encoder the collection was indexed with"
        )
    if not np.isfinite(queries).all():
        raise RetrievalError("a query vector contains a value that is not a number; check the encoder's weights")
    if allowed is not None and allowed.shape != (size,):
        raise RetrievalError(f"the filter is for {allowed.size} chunks, but the index has {size}")


def needs_exact_search(found: int, size: int) -> bool:
    """Return whether a search among ``found`` allowed chunks of ``size`` is exact, because they are few."""
    return found <= max(_EXACT_COUNT, _EXACT_SHARE * size)


class FaissIndex:
    """A flat, HNSW or IVF index of plain or quantised vectors."""

    def __init__(self, index: Any):
        self._index = index
        self._graph = isinstance(index, faiss.IndexHNSW)
        self._lists = isinstance(index, faiss.IndexIVF)
        self._stored = faiss.downcast_index(index.storage) if self._graph else index

    @property
    def size(self) -> int:
        """N, the number of vectors."""
        return int(self._index.ntotal)

    @property
    def dimension(self) -> int:
        """E, the length of a vector."""
        return int(self._index.d)

    @property
    def search_depth(self) -> int | None:
        """HNSW's efSearch, or the number of IVF lists that are probed; None for a flat index."""
        if self._lists:
            return int(self._index.nprobe)
        return int(self._index.hnsw.efSearch) if self._graph else None

    @property
    def max_search_depth(self) -> int:
        """Greatest useful search depth."""
        return min(int(self._index.nlist), _MAX_SEARCH_DEPTH) if self._lists else _MAX_SEARCH_DEPTH

    def set_search_depth(self, depth: int) -> None:
        """Set the search depth. Raises AssertionError for a flat index, which has none."""
        if self._lists:
            self._index.nprobe = depth
        elif self._graph:
            self._index.hnsw.efSearch = depth
        else:
            raise AssertionError("a flat index has no search depth")

    def search(self, queries: Vectors, k: int, allowed: Allowed | None = None) -> tuple[Hits, ...]:
        """Return the k best chunks for each of the (Q, E) queries, best first, ties by position.

        Returns fewer if fewer are allowed. allowed: (N,) mask; if it allows up to a tenth of the chunks, or up to
        20,000, the search is exact. Raises RetrievalError for queries of another dimension or that are not finite, and
        for a mask of another length.
        """
        check_queries(queries, allowed, self.size, self.dimension)
        found = self.size if allowed is None else int(np.count_nonzero(allowed))
        k = min(k, found)
        if k <= 0 or not len(queries):
            return (NO_HITS,) * len(queries)
        contiguous = np.ascontiguousarray(queries, dtype=np.float32)
        with _threads(len(queries)):
            if allowed is None:
                positions = self._index.search(contiguous, k, params=self._search_params(k))[1]
                short = (positions < 0).any(axis=1) if self._lists else np.zeros(len(positions), dtype=bool)
                if short.any():  # the probed lists hold fewer than k vectors, so probe all lists
                    positions[short] = self._index.search(
                        contiguous[short], k, params=self._search_params(k, all_lists=True)
                    )[1]
            else:
                positions = self._search_allowed(contiguous, k, allowed, found)
        return self._rescore(contiguous, positions)

    def exact(self, queries: Vectors, k: int) -> NDArray[np.int64]:
        """Return the (Q, k) positions of the k best stored vectors for each query, by exact search."""
        k = min(k, self.size)
        params = self._search_params(k, all_lists=True) if self._lists else None
        with _threads(len(queries)):
            found: NDArray[np.int64] = self._stored.search(np.ascontiguousarray(queries), k, params=params)[1]
        return found

    def vectors(self, positions: NDArray[np.int64]) -> Vectors:
        """Return the stored vectors (P, E) at these positions."""
        return np.asarray(self._stored.reconstruct_batch(positions), dtype=np.float32)

    def save(self, path: Path) -> None:
        """Write the index to a file. Raises OSError if that fails."""
        try:
            faiss.write_index(self._index, str(path))
        except RuntimeError as error:  # the message ends with the system's error text
            raise OSError(f"{path} cannot be written ({str(error).strip().rpartition('): ')[2]})") from error

    def _search_params(self, k: int, selector: Any = None, all_lists: bool = False) -> Any:
        """Return FAISS's search parameters. all_lists: whether to probe every list.

        A graph must keep at least k candidates, or it returns fewer than k results.
        """
        if self._lists:
            lists = self._index.nlist if all_lists else self._index.nprobe
            return _FAISS.SearchParametersIVF(nprobe=lists, sel=selector)
        if self._graph:
            return _FAISS.SearchParametersHNSW(efSearch=max(self._index.hnsw.efSearch, k), sel=selector)
        return _FAISS.SearchParameters(sel=selector) if selector is not None else None

    def _search_allowed(self, queries: Vectors, k: int, allowed: Allowed, found: int) -> NDArray[np.int64]:
        # The selector refers to the packed bits, so both must exist until the search ends.
        bits = np.packbits(allowed, bitorder="little")
        selector = _FAISS.IDSelectorBitmap(bits)
        flat = not self._graph and not self._lists
        exact = flat or needs_exact_search(found, self.size)
        index = self._stored if exact else self._index
        params = _FAISS.SearchParameters(sel=selector) if exact else self._search_params(k, selector)
        if self._lists:
            params = self._search_params(k, selector, exact)
        positions: NDArray[np.int64] = index.search(queries, k, params=params)[1]
        del selector
        return positions

    def _rescore(self, queries: Vectors, positions: NDArray[np.int64]) -> tuple[Hits, ...]:
        """Return the hits with recomputed inner products, one sum for each pair.

        The last bits of FAISS's own scores depend on the batch size, so batched and single queries would differ and
        equal vectors would not tie. positions: (Q, k), -1 where a graph found fewer than k. Queries are processed one
        at a time, so that the vectors stay in the CPU's cache.
        """
        stored = self._stored_matrix()
        found: list[Hits] = []
        for query, row in zip(queries, positions, strict=True):
            places = row if row[-1] >= 0 else row[row >= 0]  # missing results are at the end
            vectors = self.vectors(places) if stored is None else stored.take(places, axis=0)
            found.append(ranked(places, np.einsum("e,ke->k", query, vectors)))
        return tuple(found)

    def _stored_matrix(self) -> Vectors | None:
        """Return a view of the stored vectors (N, E); None if they are quantised or in lists.

        The view is valid for one search only, because FAISS moves the vectors when the index grows.
        """
        if not isinstance(self._stored, faiss.IndexFlat):
            return None
        matrix: Vectors = _FAISS.rev_swig_ptr(self._stored.get_xb(), self.size * self.dimension)
        return matrix.reshape(self.size, self.dimension)


@contextmanager
def _threads(queries: int) -> Iterator[None]:
    """Use one OpenMP thread for a few queries, and BLAS with all threads for a batch.

    Starting threads takes longer than a few queries. The number of threads applies to the calling thread and is
    restored. The BLAS threshold applies to the process; it can only make a concurrent search slower.
    """
    threads = faiss.omp_get_max_threads()
    batch = queries >= _BLAS_MIN_QUERIES
    faiss.omp_set_num_threads(threads if batch else 1)
    faiss.cvar.distance_compute_blas_threshold = _BLAS_THRESHOLD if batch else _DEFAULT_BLAS_THRESHOLD
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)
