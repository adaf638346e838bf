"""Base class of the vector indexes in engines: size, dimension and search depth."""

from __future__ import annotations


class EngineVectors:
    """Size, dimension and search depth of a VectorIndex that an engine holds."""

    def __init__(self, size: int, dimension: int, graph: bool, max_search_depth: int) -> None:
        """size: number of vectors. dimension: length of a vector. graph: whether an HNSW graph is searched.

        max_search_depth: greatest search depth of the engine.
        """
        self._size, self._dimension, self._max_search_depth = size, dimension, max_search_depth
        self._depth: int | None = 32 if graph else None

    @property
    def size(self) -> int:
        """N, the number of vectors."""
        return self._size

    @property
    def dimension(self) -> int:
        """E, the length of a vector."""
        return self._dimension

    @property
    def search_depth(self) -> int | None:
        """HNSW's search depth (ef), or None for an exact index."""
        return self._depth

    @property
    def max_search_depth(self) -> int:
        """Greatest search depth of the engine."""
        return self._max_search_depth

    def set_search_depth(self, depth: int) -> None:
        """Set the search depth, at most ``max_search_depth``. Raises AssertionError for an exact index."""
        if self._depth is None:
            raise AssertionError("an exact index has no search depth")
        self._depth = min(depth, self._max_search_depth)
