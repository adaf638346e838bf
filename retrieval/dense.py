"""Nearest vectors by inner product, served by FAISS. Knows nothing of text: vectors in, positions out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

from retrieval.errors import RetrievalError
from retrieval.hits import Hit

Vectors = NDArray[np.float32]


class VectorIndex(Protocol):
    """Chunks by the similarity of their vectors to a query's. Approximate kinds come later behind the same methods."""

    @property
    def size(self) -> int:
        """N, the number of vectors."""

    @property
    def dimension(self) -> int:
        """E, the length of a vector."""

    def search(self, queries: Vectors, k: int) -> tuple[tuple[Hit, ...], ...]:
        """For each of the (Q, E) queries its k best chunks (fewer if N < k), best first, equal scores by position."""

    def vectors(self, positions: NDArray[np.int64]) -> Vectors:
        """The stored vectors (P, E) at these positions."""

    def save(self, path: Path) -> None:
        """Write one file."""


class FlatIndex:
    """Exact search over all vectors."""

    def __init__(self, index: Any):
        self._index = index

    @property
    def size(self) -> int:
        """N, the number of vectors."""
        return int(self._index.ntotal)

    @property
    def dimension(self) -> int:
        """E, the length of a vector."""
        return int(self._index.d)

    def search(self, queries: Vectors, k: int) -> tuple[tuple[Hit, ...], ...]:
        """For each of the (Q, E) queries its k best chunks (fewer if N < k), best first, equal scores by position.

        Raises RetrievalError if E is not the index's or a query holds a NaN.
        """
        if queries.ndim != 2 or queries.shape[1] != self.dimension:
            raise RetrievalError(
                f"query vectors have the shape {queries.shape}, the index has {self.dimension} dimensions: "
                "use the encoder the collection was indexed with"
            )
        if not np.isfinite(queries).all():
            raise RetrievalError("a query vector holds a value that is not a number; check the encoder's weights")
        # Starting OpenMP's threads costs more than a few queries do. The setting belongs to the calling thread.
        if queries.shape[0] < 32:
            faiss.omp_set_num_threads(1)
        scores, positions = self._index.search(np.ascontiguousarray(queries, dtype=np.float32), min(k, self.size))
        return tuple(
            tuple(Hit(int(positions[q, i]), float(scores[q, i])) for i in np.lexsort((positions[q], -scores[q])))
            for q in range(queries.shape[0])
        )

    def vectors(self, positions: NDArray[np.int64]) -> Vectors:
        """The stored vectors (P, E) at these positions."""
        return np.asarray(self._index.reconstruct_batch(positions), dtype=np.float32)

    def save(self, path: Path) -> None:
        """Write one file."""
        faiss.write_index(self._index, str(path))


def build_flat(vectors: Vectors) -> FlatIndex:
    """Index (N, E) vectors; L2-normalised ones make the inner product a cosine."""
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors, dtype=np.float32))
    return FlatIndex(index)


def load_flat(path: Path, expected_bytes: int) -> FlatIndex:
    """Read what ``save`` wrote.

    FAISS loads many damaged files without a complaint and then answers wrongly: the file's hash must have been checked
    before. expected_bytes: the size the manifest gives; what FAISS may allocate is limited by it all the same. Raises
    RetrievalError if the file is not a flat index.
    """
    limit = faiss.get_deserialization_vector_byte_limit()
    faiss.set_deserialization_vector_byte_limit(expected_bytes)
    try:
        index = faiss.read_index(str(path))
    except RuntimeError as error:
        raise RetrievalError(f"{path} cannot be read as a FAISS index; index the collection again") from error
    finally:
        faiss.set_deserialization_vector_byte_limit(limit)
    if not isinstance(index, faiss.IndexFlat):
        raise RetrievalError(f"{path} holds a {type(index).__name__}, not a flat index; index the collection again")
    return FlatIndex(index)
