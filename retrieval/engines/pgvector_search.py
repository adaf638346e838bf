"""Search a generation in PostgreSQL. Scores are recomputed here, with the same sums as for local files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.engines.engine_vectors import EngineVectors
from retrieval.errors import RetrievalError
from retrieval.ranking.hits import NO_HITS, Hits, ranked
from retrieval.sparse.lexical import Allowed, Words
from retrieval.sparse.params import Bm25Params
from retrieval.sparse.served import Bm25Index, Vocabulary
from retrieval.vectors.faiss_index import Vectors, check_queries, needs_exact_search

MAX_SEARCH_DEPTH = 1_000
"""Greatest value of pgvector's hnsw.ef_search, and so the greatest number of results of a graph search."""
_EXTRA_RESULTS = 8
"""Results fetched beyond k: the server's scores differ from ours in the last bits, so close results may swap ranks."""
_POSITIONS_PER_QUERY = 10_000
"""Greatest number of positions listed in a query."""


def vectors_table(build_id: str) -> str:
    """Return the name of the table with the columns position and vector."""
    return f"plumbline_index_{build_id}_vectors"


def words_table(build_id: str) -> str:
    """Return the name of the table with the columns word, block, positions and weights."""
    return f"plumbline_index_{build_id}_words"


class ConnectionProvider(Protocol):
    """A provider of psycopg connections; see ``PgVectorEngine``."""

    def connection(self) -> AbstractContextManager[Any]:
        """Return a context manager for a connection in autocommit mode."""

    def missing_error(self, table: str) -> Exception:
        """Return the error for a table that does not exist or lacks rows."""


class PgVectors(EngineVectors):
    """A VectorIndex on a table of vectors, searched by an exact scan or by pgvector's HNSW."""

    def __init__(
        self, engine: ConnectionProvider, build_id: str, size: int, dimension: int, graph: bool, connection: Any = None
    ) -> None:
        """size: number of vectors. graph: whether the table has an HNSW graph.

        connection: open connection to use instead of the engine's, for a search inside its transaction.
        """
        self._engine, self._table, self._connection = engine, vectors_table(build_id), connection
        super().__init__(size, dimension, graph, MAX_SEARCH_DEPTH)

    def search(self, queries: Vectors, k: int, allowed: Allowed | None = None) -> tuple[Hits, ...]:
        """See ``VectorIndex.search``. The search is exact if few chunks are allowed, or if k is above 1,000."""
        check_queries(queries, allowed, self._size, self._dimension)
        found = self._size if allowed is None else int(np.count_nonzero(allowed))
        k = min(k, found)
        if k <= 0 or not len(queries):
            return (NO_HITS,) * len(queries)
        exact = (
            self._depth is None
            or k > MAX_SEARCH_DEPTH
            or (allowed is not None and needs_exact_search(found, self._size))
        )
        with self._open_connection() as connection:
            hits = []
            for query in np.ascontiguousarray(queries, dtype=np.float32):
                one = None if exact else self._search_graph(connection, query, k, allowed, found)
                hits.append(self._search_by_scan(connection, query, k, allowed, found) if one is None else one)
        return tuple(hits)

    def vectors(self, positions: NDArray[np.int64]) -> Vectors:
        """Return the stored vectors (P, E) at these positions. Raises GenerationGoneError if rows are missing."""
        unique, inverse = np.unique(np.asarray(positions, dtype=np.int64), return_inverse=True)
        stored = np.empty((len(unique), self._dimension), dtype=np.float32)
        with self._open_connection() as connection:
            for start in range(0, len(unique), _POSITIONS_PER_QUERY):
                part = unique[start : start + _POSITIONS_PER_QUERY]
                fetched, rows = self._fetch_vectors(
                    connection, "WHERE position = ANY(%s) ORDER BY position", (part.tolist(),)
                )
                if not np.array_equal(fetched, part):
                    raise self._engine.missing_error(self._table)
                stored[start : start + len(part)] = rows
        return stored[inverse]

    def _search_by_scan(self, connection: Any, query: Any, k: int, allowed: Allowed | None, found: int) -> Hits:
        where, values = _where_clause(allowed, found)
        rest = f"{where} ORDER BY vector <#> %s, position LIMIT %s"
        with connection.transaction():
            if self._depth is not None:
                connection.execute("SET LOCAL enable_indexscan = off")
            positions, stored = self._fetch_vectors(connection, rest, (*values, query, k + _EXTRA_RESULTS))
        if len(positions) < min(k + _EXTRA_RESULTS, found):
            raise self._engine.missing_error(self._table)
        return _score(query, positions, stored)[:k]

    def _search_graph(self, connection: Any, query: Any, k: int, allowed: Allowed | None, found: int) -> Hits | None:
        """Search the graph. Returns None if fewer than k of its candidates pass the filter."""
        where, values = _where_clause(allowed, found)
        # pgvector filters the graph's candidates afterwards, so more candidates are needed with a filter.
        depth = max(self._depth or 0, k + _EXTRA_RESULTS if allowed is None else int(1.3 * k * self._size / found))
        with connection.transaction():
            connection.execute(f"SET LOCAL hnsw.ef_search = {min(depth, MAX_SEARCH_DEPTH)}")
            connection.execute("SET LOCAL enable_seqscan = off")
            connection.execute("SET LOCAL enable_bitmapscan = off")
            rest = f"{where} ORDER BY vector <#> %s LIMIT %s"
            positions, stored = self._fetch_vectors(
                connection, rest, (*values, query, min(k + _EXTRA_RESULTS, MAX_SEARCH_DEPTH))
            )
        if len(positions) < k and (allowed is not None or not len(positions)):
            return None
        return _score(query, positions, stored)[:k]

    def _fetch_vectors(self, connection: Any, rest: str, values: tuple[Any, ...]) -> tuple[NDArray[np.int64], Vectors]:
        """Return the positions (P,) and vectors (P, E) of the selected rows. rest: end of the SQL statement."""
        with connection.cursor(binary=True) as cursor:
            # The table's name is safe: EngineRecord checks that the build ID is twelve hexadecimal digits.
            rows = cursor.execute(f"SELECT position, vector FROM {self._table} {rest}", values).fetchall()  # noqa: S608
        stored = np.empty((len(rows), self._dimension), dtype=np.float32)
        for number, (_, vector) in enumerate(rows):
            stored[number] = vector.to_numpy()
        return np.asarray([position for position, _ in rows], dtype=np.int64), stored

    @contextmanager
    def _open_connection(self) -> Iterator[Any]:
        with self._engine.connection() if self._connection is None else nullcontext(self._connection) as connection:
            yield connection


class PgWords:
    """A LexicalIndex on a table of postings. Reads the postings of a query's words and sums them as for local files."""

    def __init__(self, engine: ConnectionProvider, build_id: str, vocabulary: Vocabulary, params: Bm25Params) -> None:
        self._engine, self._table, self._size = engine, words_table(build_id), vocabulary.size
        self._words = {word: number for number, word in enumerate(vocabulary.words)}
        self._absent = vocabulary.absent
        self._weights = np.dtype("<f4" if params.weighting == "lucene" else "<f8")

    @property
    def size(self) -> int:
        """N, the number of chunks."""
        return self._size

    def scores(self, query: Words) -> NDArray[np.float64]:
        """Return the (N,) scores; see ``LexicalIndex``."""
        return self._local_index(query).scores(query)

    def search(self, query: Words, k: int, allowed: Allowed | None = None) -> Hits:
        """Return at most k chunks with at least one query word, best first, ties by position."""
        return self._local_index(query).search(query, k, allowed) if k > 0 else NO_HITS

    def search_weighted(self, query: Mapping[str, float], k: int, allowed: Allowed | None = None) -> Hits:
        """Search as ``search`` does, with weighted words. Words with weights of 0 or below are ignored."""
        return self._local_index(list(query)).search_weighted(query, k, allowed) if k > 0 else NO_HITS

    def save(self, folder: Path) -> None:
        """Write this index as the files of a local index."""
        self._local_index(list(self._words)).save(folder)

    def _local_index(self, query: Words) -> Bm25Index:
        """Return a local index of the query's words only. Raises GenerationGoneError if postings are missing."""
        words = [word for word in dict.fromkeys(query) if word in self._words]
        numbers = {self._words[word]: column for column, word in enumerate(words)}
        positions: list[list[bytes]] = [[] for _ in words]
        weights: list[list[bytes]] = [[] for _ in words]
        if words:
            with self._engine.connection() as connection, connection.cursor(binary=True) as cursor:
                query_sql = (
                    f"SELECT word, positions, weights FROM {self._table} WHERE word = ANY(%s) ORDER BY word, block"  # noqa: S608
                )
                cursor.execute(query_sql, (list(numbers),))
                for number, chunk_positions, values in cursor:
                    positions[numbers[number]].append(chunk_positions)
                    weights[numbers[number]].append(values)
        if not all(positions):
            raise self._engine.missing_error(self._table)
        columns = [np.frombuffer(b"".join(parts), dtype="<i4") for parts in positions]
        data = np.frombuffer(b"".join(b"".join(parts) for parts in weights), dtype=self._weights)
        indices = np.concatenate([np.zeros(0, dtype=np.int32), *columns])
        indptr = np.cumsum([0, *(len(column) for column in columns)], dtype=np.int64)
        if len(data) != len(indices) or (len(indices) and not 0 <= indices.min() <= indices.max() < self._size):
            raise RetrievalError(f"the postings in {self._table} are inconsistent; index the collection again")
        absent = None if self._absent is None else self._absent[[self._words[word] for word in words]]
        return Bm25Index(data, indices, indptr, words, self._size, absent)


def _where_clause(allowed: Allowed | None, found: int) -> tuple[str, tuple[Any, ...]]:
    """Return the WHERE clause of a mask and its values: a list of positions if they are few, else a bit per chunk."""
    if allowed is None:
        return "", ()
    if found <= _POSITIONS_PER_QUERY:
        return "WHERE position = ANY(%s)", (np.flatnonzero(allowed).tolist(),)
    return "WHERE get_bit(%s::bytea, position) = 1", (np.packbits(allowed, bitorder="little").tobytes(),)


def _score(query: Any, positions: NDArray[np.int64], stored: Vectors) -> Hits:
    """Return the hits with one sum for each pair, as FaissIndex computes it (docs/decisions/0009)."""
    return ranked(positions, np.einsum("e,ke->k", query, stored))
