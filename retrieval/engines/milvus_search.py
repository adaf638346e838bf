"""Search a generation in Milvus. Scores are recomputed here, with the same sums as for local files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.engines.engine_vectors import EngineVectors
from retrieval.errors import EngineError
from retrieval.ranking.hits import NO_HITS, Hits, ranked
from retrieval.sparse.lexical import Allowed, Words
from retrieval.sparse.served import Bm25Index, Vocabulary
from retrieval.vectors.faiss_index import Vectors, check_queries

REQUEST_TIMEOUT_S = 15.0
"""Timeout of a request in seconds."""
MAX_SEARCH_DEPTH = 1_024
"""Greatest search depth (ef)."""
_EXTRA_RESULTS = 8
"""Results fetched beyond k. The number is doubled while the last ones tie, because Milvus's order of ties differs."""
_MAX_RESULTS = 16_384
"""Greatest number of results that Milvus returns for one search."""
_ROWS_PER_REQUEST = 2_000
"""Rows fetched in one request."""
_EXACT_SEARCH_LIMIT = 1_000
"""Up to this many allowed vectors are fetched and searched exactly here."""
_SCORE_TOLERANCE = 1e-4
"""Relative difference of scores below which Milvus's order may differ from ours."""

FieldResults = tuple[NDArray[np.int64], NDArray[np.float64], list[Any]]
"""Positions, scores and values of a field, best first."""


class ClientProvider(Protocol):
    """A provider of the Milvus client; see ``MilvusEngine``."""

    address: str

    def connected(self, name: str = "") -> AbstractContextManager[Any]:
        """Return a context manager for the client. name: name of the Milvus collection in use."""

    def missing_error(self, name: str) -> Exception:
        """Return the error for a Milvus collection that does not exist or lacks rows."""


def vectors_name(build_id: str) -> str:
    """Return the name of the Milvus collection with the fields position and vector."""
    return f"plumbline_{build_id}_vectors"


def words_name(build_id: str) -> str:
    """Return the name of the Milvus collection with the fields position and words."""
    return f"plumbline_{build_id}_words"


class MilvusVectors(EngineVectors):
    """A VectorIndex on a Milvus collection of vectors (FLAT or HNSW)."""

    def __init__(self, engine: ClientProvider, build_id: str, size: int, dimension: int, graph: bool) -> None:
        self._engine, self._name = engine, vectors_name(build_id)
        super().__init__(size, dimension, graph, MAX_SEARCH_DEPTH)

    def search(self, queries: Vectors, k: int, allowed: Allowed | None = None) -> tuple[Hits, ...]:
        """See ``VectorIndex.search``. The search is exact if a filter allows at most 1,000 chunks."""
        check_queries(queries, allowed, self._size, self._dimension)
        count = self._size if allowed is None else int(np.count_nonzero(allowed))
        k = min(k, count)
        if k <= 0 or not len(queries):
            return (NO_HITS,) * len(queries)
        contiguous = np.ascontiguousarray(queries, dtype=np.float32)
        if allowed is not None and count <= _EXACT_SEARCH_LIMIT:
            positions = np.flatnonzero(allowed)
            return self._search_exactly(contiguous, positions, k)
        where = filter_expression(allowed)
        hits = tuple(self._search_one(query, k, count, where) for query in contiguous)
        if allowed is not None and any(len(one) < k for one in hits):  # the graph search missed allowed chunks
            return self._search_exactly(contiguous, np.flatnonzero(allowed), k)
        return hits

    def vectors(self, positions: NDArray[np.int64]) -> Vectors:
        """Return the stored vectors (P, E) at these positions. Raises GenerationGoneError if rows are missing."""
        unique, inverse = np.unique(np.asarray(positions, dtype=np.int64), return_inverse=True)
        stored = np.empty((len(unique), self._dimension), dtype=np.float32)
        for start in range(0, len(unique), _ROWS_PER_REQUEST):
            part = unique[start : start + _ROWS_PER_REQUEST]
            rows = fetch_field(self._engine, self._name, f"position in {part.tolist()}", "vector")
            if len(rows) != len(part):
                raise self._engine.missing_error(self._name)
            for number, position in enumerate(part.tolist(), start):
                stored[number] = rows[position]
        return stored[inverse]

    def _search_one(self, query: Any, k: int, count: int, where: str) -> Hits:
        def search(limit: int) -> FieldResults:
            options = {} if self._depth is None else {"ef": min(max(self._depth, limit), 32_768)}
            return search_field(self._engine, self._name, query, limit, "vector", where, options)

        positions, _, vectors = search_with_ties(search, k, count)
        if not len(positions):
            return NO_HITS
        stored = np.asarray(vectors, dtype=np.float32)
        # One sum for each pair, as FaissIndex computes it (docs/decisions/0009).
        return ranked(positions, np.einsum("e,ke->k", query, stored))[:k]

    def _search_exactly(self, queries: Vectors, positions: NDArray[np.int64], k: int) -> tuple[Hits, ...]:
        best: list[Hits] = [NO_HITS] * len(queries)
        for start in range(0, len(positions), _ROWS_PER_REQUEST):
            part = positions[start : start + _ROWS_PER_REQUEST]
            stored = self.vectors(part)
            for number, query in enumerate(queries):
                candidates = np.concatenate([best[number].positions, part])
                scores = np.einsum("e,ke->k", query, stored).astype(np.float64)
                best[number] = ranked(candidates, np.concatenate([best[number].scores, scores]))[:k]
        return tuple(best)


class MilvusWords:
    """A LexicalIndex on a Milvus collection of sparse vectors. Milvus finds candidates; weights are summed here."""

    def __init__(self, engine: ClientProvider, build_id: str, vocabulary: Vocabulary) -> None:
        self._engine, self._name, self._size = engine, words_name(build_id), vocabulary.size
        self._words = {word: number for number, word in enumerate(vocabulary.words)}

    @property
    def size(self) -> int:
        """N, the number of chunks."""
        return self._size

    def scores(self, query: Words) -> NDArray[np.float64]:
        """Return the (N,) scores; see ``LexicalIndex``. Reads the entire Milvus collection."""
        return self._full_index().scores(query)

    def search(self, query: Words, k: int, allowed: Allowed | None = None) -> Hits:
        """Return at most k chunks with at least one query word, best first, ties by position."""
        counts: dict[str, float] = {}
        for word in query:
            counts[word] = counts.get(word, 0.0) + 1.0
        positions, index = self._candidates(counts, k, allowed)
        return _to_full_index(index.search(query, k), positions)

    def search_weighted(self, query: Mapping[str, float], k: int, allowed: Allowed | None = None) -> Hits:
        """Search as ``search`` does, with weighted words. Words with weights of 0 or below are ignored."""
        positions, index = self._candidates({w: weight for w, weight in query.items() if weight > 0}, k, allowed)
        return _to_full_index(index.search_weighted(query, k), positions)

    def save(self, folder: Path) -> None:
        """Write this index as the files of a local index."""
        self._full_index().save(folder)

    def _candidates(
        self, query: Mapping[str, float], k: int, allowed: Allowed | None
    ) -> tuple[NDArray[np.int64], Bm25Index]:
        """Return candidates that include the k best chunks, and an index of their weights for the query's words.

        The candidates are positions in ascending order.
        """
        words = [word for word in query if word in self._words]
        sparse = {self._words[word]: query[word] for word in words}
        count = self._size if allowed is None else int(np.count_nonzero(allowed))
        if not sparse or k <= 0 or not count:
            return np.zeros(0, dtype=np.int64), _local_index([], [], [], 0)
        where = filter_expression(allowed)

        def search(limit: int) -> FieldResults:
            return search_field(self._engine, self._name, sparse, limit, "words", where, {})

        positions, _, weights = search_with_ties(search, min(k, count), count)
        order = np.argsort(positions)
        numbers = [self._words[word] for word in words]
        return positions[order], _local_index(
            [weights[number] for number in order.tolist()], numbers, words, len(order)
        )

    def _full_index(self) -> Bm25Index:
        rows: dict[int, Any] = {}
        for start in range(0, self._size, _ROWS_PER_REQUEST):
            where = f"position >= {start} and position < {start + _ROWS_PER_REQUEST}"
            rows.update(fetch_field(self._engine, self._name, where, "words"))
        words = list(self._words)
        return _local_index(
            [rows.get(position, {}) for position in range(self._size)], range(len(words)), words, self._size
        )


def search_field(
    engine: ClientProvider, name: str, query: Any, limit: int, field: str, where: str, options: dict[str, Any]
) -> FieldResults:
    """Run one search and return at most ``limit`` results. field: the field that is searched and returned.

    where: filter expression, "" for none. options: parameters of the search. Raises EngineError for a limit that Milvus
    does not support.
    """
    if limit > _MAX_RESULTS:
        raise EngineError("milvus", engine.address, f"a search returns at most {_MAX_RESULTS} chunks, not {limit}")
    with engine.connected(name) as client:
        (rows,) = client.search(
            name,
            [query],
            filter=where,
            limit=limit,
            anns_field=field,
            search_params={"metric_type": "IP", "params": options},
            output_fields=["position", field],
            timeout=REQUEST_TIMEOUT_S,
        )
    positions = np.asarray([row["entity"]["position"] for row in rows], dtype=np.int64)
    scores = np.asarray([row["distance"] for row in rows], dtype=np.float64)
    return positions, scores, [row["entity"][field] for row in rows]


def search_with_ties(search: Callable[[int], FieldResults], k: int, count: int) -> FieldResults:
    """Search with a growing limit until every chunk that ties with the k-th is included.

    search: takes the limit and returns at most that many results. count: number of chunks that may be returned.
    """
    limit = min(k + _EXTRA_RESULTS, count, max(_MAX_RESULTS, k))
    while True:
        positions, scores, values = search(limit)
        enough = len(positions) < limit or limit >= min(count, _MAX_RESULTS)
        if enough or scores[-1] < scores[k - 1] - _SCORE_TOLERANCE * abs(scores[k - 1]):
            return positions, scores, values
        limit = min(2 * limit, count, _MAX_RESULTS)


def fetch_field(engine: ClientProvider, name: str, where: str, field: str) -> dict[int, Any]:
    """Return the field's values, by position, of at most 16,384 rows that pass the filter."""
    with engine.connected(name) as client:
        rows = client.query(
            name, filter=where, output_fields=["position", field], limit=_MAX_RESULTS, timeout=REQUEST_TIMEOUT_S
        )
    return {int(row["position"]): row[field] for row in rows}


def filter_expression(allowed: Allowed | None) -> str:
    """Return the filter expression of a mask. It lists the allowed or the excluded positions, whichever are fewer."""
    if allowed is None:
        return ""
    passing, others = np.flatnonzero(allowed), np.flatnonzero(~allowed)
    if len(passing) <= len(others):
        return f"position in {passing.tolist()}"
    return f"position not in {others.tolist()}" if len(others) else ""


def _local_index(rows: list[Any], numbers: Any, words: list[str], size: int) -> Bm25Index:
    """Return an index of ``size`` chunks for the words with these numbers. rows: {number: weight} of each chunk."""
    data: list[NDArray[np.float32]] = []
    indices: list[NDArray[np.int32]] = []
    by_word: dict[int, list[tuple[int, float]]] = {int(number): [] for number in numbers}
    for chunk, row in enumerate(rows):
        for number, weight in row.items():
            if number in by_word:
                by_word[number].append((chunk, weight))
    for pairs in by_word.values():
        indices.append(np.asarray([chunk for chunk, _ in pairs], dtype=np.int32))
        data.append(np.asarray([weight for _, weight in pairs], dtype=np.float32))
    indptr = np.cumsum([0, *map(len, data)], dtype=np.int64)
    flat = np.concatenate([np.zeros(0, dtype=np.float32), *data])
    return Bm25Index(flat, np.concatenate([np.zeros(0, dtype=np.int32), *indices]), indptr, words, size)


def _to_full_index(hits: Hits, positions: NDArray[np.int64]) -> Hits:
    """Convert hits among candidates to hits of the full index. Ties keep their order, because positions ascend."""
    return Hits(positions[hits.positions], hits.scores)
