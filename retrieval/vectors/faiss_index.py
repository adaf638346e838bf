"""One class for all kinds of FAISS index: validated queries, filters, thread control and reproducible scores."""

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
"""(N,) mask of the chunks that may be returned; a parameter of None allows all."""

# The stubs that come with FAISS lack the arguments that its Python layer accepts.
_FAISS: Any = faiss
# FAISS multiplies a batch by BLAS only if queries times dimensions exceed its threshold, 128,000 by default (334
# queries of 384 dimensions). BLAS is several times faster from about 8 queries on; below that the plain loop is.
_BLAS_FROM = 8
_BLAS, _STOCK = 1_000, 128_000
# A graph search with few allowed vectors wastes time on others and may not reach all: those are searched exactly.
_EXACT_SHARE, _EXACT_COUNT = 0.1, 20_000
_DEEPEST = 1_024


class VectorIndex(Protocol):
    """Finds chunks by the similarity of their vectors to the query's."""

    @property
    def size(self) -> int:
        """N, the number of vectors."""

    @property
    def dimension(self) -> int:
        """E, the length of a vector."""

    def search(self, queries: Vectors, k: int, allowed: Allowed | None = None) -> tuple[Hits, ...]:
        """For each of the (Q, E) queries, return its k best chunks (fewer if fewer are allowed), best first, ties by
        position.
        """

    def vectors(self, positions: NDArray[np.int64]) -> Vectors:
        """The stored vectors (P, E) at these positions."""


def check_queries(queries: Vectors, allowed: Allowed | None, size: int, dimension: int) -> None:
    """Raise RetrievalError for queries of another dimension or with a NaN, or a mask of another length."""
    if queries.ndim != 2 or queries.shape[1] != dimension:
        raise RetrievalError(
            f"query vectors have the shape {queries.shape}, the index has {dimension} dimensions: "
            "use the encoder the collection was indexed with"
        )
    if not np.isfinite(queries).all():
        raise RetrievalError("a query vector holds a value that is not a number; check the encoder's weights")
    if allowed is not None and allowed.shape != (size,):
        raise RetrievalError(f"the filter speaks of {allowed.size} chunks, the index holds {size}")


def searched_exactly(found: int, size: int) -> bool:
    """Whether so few allowed chunks are searched exactly: a graph search wastes time on others, and may miss some."""
    return found <= max(_EXACT_COUNT, _EXACT_SHARE * size)


class FaissIndex:
    """Flat, HNSW or IVF index of plain or quantised vectors."""

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
        """HNSW's efSearch, the number of IVF lists probed, or None for a flat index."""
        if self._lists:
            return int(self._index.nprobe)
        return int(self._index.hnsw.efSearch) if self._graph else None

    @property
    def deepest(self) -> int:
        """The search depth beyond which nothing is gained, or the gain is not worth the time."""
        return min(int(self._index.nlist), _DEEPEST) if self._lists else _DEEPEST

    def deepen(self, depth: int) -> None:
        """Set the search depth. Raises AssertionError for a flat index, which has none."""
        if self._lists:
            self._index.nprobe = depth
        elif self._graph:
            self._index.hnsw.efSearch = depth
        else:
            raise AssertionError("a flat index has no search depth")

    def search(self, queries: Vectors, k: int, allowed: Allowed | None = None) -> tuple[Hits, ...]:
        """For each of the (Q, E) queries, return its k best chunks (fewer if fewer are allowed), best first, ties by
        position.

        allowed: (N,); small sets (up to a tenth, or 20,000) are searched exactly for any kind. Raises RetrievalError if
        E is not the index's, a query contains a NaN, or the mask has another length.
        """
        check_queries(queries, allowed, self.size, self.dimension)
        found = self.size if allowed is None else int(np.count_nonzero(allowed))
        k = min(k, found)
        if k <= 0 or not len(queries):
            return (NO_HITS,) * len(queries)
        contiguous = np.ascontiguousarray(queries, dtype=np.float32)
        with _threads(len(queries)):
            if allowed is None:
                positions = self._index.search(contiguous, k, params=self._depth(k))[1]
                short = (positions < 0).any(axis=1) if self._lists else np.zeros(len(positions), dtype=bool)
                if short.any():  # the probed lists hold fewer than k: probe all
                    positions[short] = self._index.search(contiguous[short], k, params=self._depth(k, whole=True))[1]
            else:
                positions = self._among(contiguous, k, allowed, found)
        return self._scored(contiguous, positions)

    def exact(self, queries: Vectors, k: int) -> NDArray[np.int64]:
        """(Q, k) positions of the k best of all stored vectors, by exact search."""
        k = min(k, self.size)
        params = self._depth(k, whole=True) if self._lists else None
        with _threads(len(queries)):
            found: NDArray[np.int64] = self._stored.search(np.ascontiguousarray(queries), k, params=params)[1]
        return found

    def vectors(self, positions: NDArray[np.int64]) -> Vectors:
        """Return the stored vectors (P, E) at these positions."""
        return np.asarray(self._stored.reconstruct_batch(positions), dtype=np.float32)

    def save(self, path: Path) -> None:
        """Write one file. Raises OSError if that fails."""
        try:
            faiss.write_index(self._index, str(path))
        except RuntimeError as error:  # the message ends with the system's error text
            raise OSError(f"{path} cannot be written ({str(error).strip().rpartition('): ')[2]})") from error

    def _depth(self, k: int, selector: Any = None, whole: bool = False) -> Any:
        """Search parameters: a graph must keep at least k candidates, or it returns fewer than exist. whole: probe
        every list.
        """
        if self._lists:
            lists = self._index.nlist if whole else self._index.nprobe
            return _FAISS.SearchParametersIVF(nprobe=lists, sel=selector)
        if self._graph:
            return _FAISS.SearchParametersHNSW(efSearch=max(self._index.hnsw.efSearch, k), sel=selector)
        return _FAISS.SearchParameters(sel=selector) if selector is not None else None

    def _among(self, queries: Vectors, k: int, allowed: Allowed, found: int) -> NDArray[np.int64]:
        # The selector only points at the packed bits: both must live until the search ends.
        bits = np.packbits(allowed, bitorder="little")
        selector = _FAISS.IDSelectorBitmap(bits)
        flat = not self._graph and not self._lists
        exact = flat or searched_exactly(found, self.size)
        index = self._stored if exact else self._index
        params = _FAISS.SearchParameters(sel=selector) if exact else self._depth(k, selector)
        if self._lists:
            params = self._depth(k, selector, exact)
        positions: NDArray[np.int64] = index.search(queries, k, params=params)[1]
        del selector
        return positions

    def _scored(self, queries: Vectors, positions: NDArray[np.int64]) -> tuple[Hits, ...]:
        """Recompute the inner products, one sum a pair.

        FAISS's own differ in the last bits with the batch size, so that batched and single queries would differ and
        equal vectors would not tie. positions: (Q, k), -1 where a graph found fewer than k. One query at a time, so
        that its vectors stay in the cache.
        """
        stored = self._in_memory()
        found: list[Hits] = []
        for query, row in zip(queries, positions, strict=True):
            places = row if row[-1] >= 0 else row[row >= 0]  # missing results are at the end
            vectors = self.vectors(places) if stored is None else stored.take(places, axis=0)
            found.append(ranked(places, np.einsum("e,ke->k", query, vectors)))
        return tuple(found)

    def _in_memory(self) -> Vectors | None:
        """A view of the stored vectors (N, E) for one search; None if they are quantised or in lists.

        Never kept: FAISS moves them when it grows.
        """
        if not isinstance(self._stored, faiss.IndexFlat):
            return None
        matrix: Vectors = _FAISS.rev_swig_ptr(self._stored.get_xb(), self.size * self.dimension)
        return matrix.reshape(self.size, self.dimension)


@contextmanager
def _threads(queries: int) -> Iterator[None]:
    """Use one OpenMP thread for a few queries, and BLAS with all threads for a batch.

    Starting threads costs more than a few queries do. The number of threads belongs to the calling thread and is
    restored; the threshold belongs to the process, and a concurrent search is at worst slower.
    """
    threads = faiss.omp_get_max_threads()
    batch = queries >= _BLAS_FROM
    faiss.omp_set_num_threads(threads if batch else 1)
    faiss.cvar.distance_compute_blas_threshold = _BLAS if batch else _STOCK
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)
