"""Store the indexes of a generation in PostgreSQL: one table of vectors (pgvector) and one of postings.

A generation is written in one transaction, so that a killed build or a server crash leaves nothing behind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from retrieval.engines.engine import BuiltVectors, IndexFacts, IndexWriter, OpenIndexes, VectorProgress
from retrieval.engines.pgvector_search import MAX_SEARCH_DEPTH, PgVectors, PgWords, vectors_table, words_table
from retrieval.errors import EngineError, EngineUnavailableError, GenerationGoneError
from retrieval.sparse.lexical import LexicalIndex
from retrieval.sparse.params import Bm25Params
from retrieval.sparse.served import Bm25Index, load_vocabulary
from retrieval.vectors.building import vector_blocks
from retrieval.vectors.faiss_index import Vectors
from retrieval.vectors.params import DenseParams, resolved_kind
from retrieval.vectors.search_depth import recall_trial, tune_search_depth

NAME = "pgvector"
_EXAMPLE_URL = "postgresql+psycopg://user@host/name"
_CONNECT_TIMEOUT_S = 10
_POOL_SIZE = 16
_MAX_INLINE_DIMENSION = 2_000
"""Greatest dimension of a vector that fits in a page of 8 kB, so that it need not be stored out of line."""
_MAX_GRAPH_DIMENSION = 2_000
"""Greatest dimension that pgvector's HNSW supports."""
_MAX_LINKS = 100
_MAX_BUILD_DEPTH = 1_000
_POSTINGS_PER_ROW = 1 << 16
"""Greatest number of postings in a row of the table."""
_MAX_BUILD_MIB = 2_048


class PgVectorEngine:
    """The IndexEngine of PostgreSQL with pgvector. Connections are opened when needed, at most 16 at a time."""

    def __init__(self, url: str) -> None:
        """url: a PostgreSQL URL. Raises EngineError for another URL, or if psycopg or pgvector is not installed."""
        try:
            parsed = make_url(url)
            backend = parsed.get_backend_name()
        except (ArgumentError, ValueError) as error:
            raise EngineError(NAME, "", f"the URL is invalid: give one such as {_EXAMPLE_URL}") from error
        if backend != "postgresql":
            raise EngineError(NAME, "", f"the URL is for {backend!r}: give one such as {_EXAMPLE_URL}")
        self.address = parsed.render_as_string(hide_password=True)
        self.recorded = parsed._replace(password=None).render_as_string()
        try:
            from pgvector.psycopg import register_vector

            self._engine: Engine = create_engine(
                parsed.set(drivername="postgresql+psycopg"),
                pool_size=_POOL_SIZE,
                max_overflow=0,
                pool_pre_ping=True,
                connect_args={"connect_timeout": _CONNECT_TIMEOUT_S, "autocommit": True},
            )
        except (ImportError, NoSuchModuleError) as error:
            reason = f"its driver is not installed ({error}): run pip install 'plumbline-rag[pgvector]'"
            raise EngineError(NAME, self.address, reason) from error

        self._register: Callable[[Any], None] = register_vector

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def check(self, params: DenseParams, bm25: Bm25Params, dimension: int) -> None:
        """Connect, and create the extension if it is missing. See ``IndexEngine.check``."""
        problem = _unsupported(params, bm25, dimension)
        if problem:
            raise EngineError(NAME, self.address, problem)
        self._create_extension()

    @contextmanager
    def writer(self, build_id: str, folder: Path, generation: str, collection: str) -> Iterator[IndexWriter]:
        """Write in one transaction, which begins with the first table. See ``IndexEngine.writer``."""
        self._create_extension()
        with self.connection() as connection, connection.transaction():
            index_writer = _Writer(self, connection, build_id, folder)
            yield index_writer
            content = {"collection": collection, "generation": generation, **index_writer.content}
            comment = f"Plumbline: {json.dumps(content, sort_keys=True)}"
            for table in (vectors_table(build_id), words_table(build_id)):
                connection.execute(_sql_with_literal(f"COMMENT ON TABLE {table} IS ", comment))

    def open(self, build_id: str, folder: Path, facts: IndexFacts) -> OpenIndexes:
        """See ``IndexEngine.open``."""
        with self.connection() as connection:
            for table in (vectors_table(build_id), words_table(build_id)):
                comment = connection.execute(
                    "SELECT obj_description(to_regclass(%s), 'pg_class')", (table,)
                ).fetchone()[0]
                expected = {"generation": facts.hash, "chunks": facts.chunks, "dimension": facts.dimension}
                if comment is None or not expected.items() <= _parse_comment(comment).items():
                    raise self.missing_error(table)
        vocabulary = load_vocabulary(folder)
        dense = PgVectors(self, build_id, facts.chunks, facts.dimension, facts.kind == "hnsw")
        if facts.kind == "hnsw" and facts.search_depth is not None:
            dense.set_search_depth(facts.search_depth)
        return OpenIndexes(dense, PgWords(self, build_id, vocabulary, facts.bm25))

    def drop(self, build_id: str) -> None:
        """See ``IndexEngine.drop``."""
        with self.connection() as connection:
            connection.execute(f"DROP TABLE IF EXISTS {vectors_table(build_id)}, {words_table(build_id)}")

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """Yield a psycopg connection in autocommit mode. Errors of the server and the network become EngineError."""
        import psycopg

        try:
            pooled = self._engine.raw_connection()
            try:
                self._prepare(pooled)
                yield pooled.driver_connection
            except psycopg.OperationalError:
                pooled.invalidate()
                raise
            finally:
                pooled.close()
        except (psycopg.OperationalError, DBAPIError) as error:
            reason = str(getattr(error, "orig", error)).strip()
            raise EngineUnavailableError(
                NAME,
                self.address,
                f"it does not answer ({reason}). Check that the server runs and the address is right",
            ) from error
        except psycopg.errors.UndefinedTable as error:
            raise self.missing_error(str(error).partition('"')[2].partition('"')[0]) from error
        except psycopg.errors.InsufficientPrivilege as error:
            raise EngineError(NAME, self.address, f"the user lacks a privilege ({_first_line(error)})") from error
        except (psycopg.Error, SQLAlchemyError) as error:
            raise EngineError(NAME, self.address, f"it failed: {_first_line(error)}") from error

    def _prepare(self, pooled: Any) -> None:
        """Prepare a new connection: register the vector type with psycopg once the extension exists."""
        connection: Any = pooled.driver_connection
        if not pooled.info.get("prepared"):
            connection.execute("SET jit = off")  # compiling the plan would take longer than the query
            if connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone():
                self._register(connection)
                pooled.info["prepared"] = True

    def missing_error(self, table: str) -> GenerationGoneError:
        """Return the error for a table that does not exist or lacks rows."""
        reason = (
            f"there is no table {table} of this generation; open the collection again if a newer generation was "
            "published, or else index the same sources again"
        )
        return GenerationGoneError(NAME, self.address, reason)

    def _create_extension(self) -> None:
        import psycopg

        with self.connection() as connection:
            if connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone():
                return
            try:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            except psycopg.errors.UniqueViolation:
                pass  # another process created it at the same time
            except psycopg.OperationalError:
                raise
            except psycopg.Error as error:
                reason = (
                    f"the database has no extension vector, and it cannot be created ({_first_line(error)}): install "
                    "pgvector on the server, and run CREATE EXTENSION vector as its administrator"
                )
                raise EngineError(NAME, self.address, reason) from error


class _Writer:
    """An IndexWriter that writes both tables on one connection, inside its transaction."""

    def __init__(self, engine: PgVectorEngine, connection: Any, build_id: str, folder: Path) -> None:
        self._engine, self._connection, self._build_id, self._folder = engine, connection, build_id, folder
        self.content: dict[str, Any] = {}

    def write_words(self, lexical: LexicalIndex) -> None:
        """Store the postings, at most 65,536 in a row, and write the vocabulary to a file."""
        if not isinstance(lexical, Bm25Index):
            raise AssertionError("check() refuses the other backend")
        table = words_table(self._build_id)
        self._connection.execute(
            f"CREATE TABLE {table} (word int4, block int4, positions bytea, weights bytea, PRIMARY KEY (word, block))"
        )
        # Weights do not compress.
        self._connection.execute(f"ALTER TABLE {table} ALTER weights SET STORAGE EXTERNAL")
        data, indices, indptr = lexical.columns
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY {table} (word, block, positions, weights) FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(["int4", "int4", "bytea", "bytea"])
            for word, (start, end) in enumerate(zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)):
                for block, at in enumerate(range(start, end, _POSTINGS_PER_ROW)):
                    part = slice(at, min(at + _POSTINGS_PER_ROW, end))
                    copy.write_row((word, block, indices[part].astype("<i4").tobytes(), _little_endian(data[part])))
        lexical.save_vocabulary(self._folder)

    def write_vectors(self, vectors: Vectors, params: DenseParams, progress: VectorProgress) -> BuiltVectors:
        """Store the vectors, and build an HNSW graph unless the index is flat."""
        count, dimension = int(vectors.shape[0]), int(vectors.shape[1])
        kind = resolved_kind(params, count)
        table = vectors_table(self._build_id)
        execute: Callable[..., Any] = self._connection.execute
        execute(f"CREATE TABLE {table} (position int4 PRIMARY KEY, vector vector({dimension}) NOT NULL)")
        if dimension <= _MAX_INLINE_DIMENSION:
            execute(f"ALTER TABLE {table} ALTER vector SET STORAGE PLAIN")
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY {table} (position, vector) FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(["int4", "vector"])
            for start, block in vector_blocks(vectors):
                for position, row in enumerate(block, start):
                    copy.write_row((position, row))
                if kind == "flat":
                    progress(start + len(block), count)
        execute(f"ANALYZE {table}")
        self.content = {"chunks": count, "dimension": dimension, "kind": kind}
        if kind == "flat":
            return BuiltVectors("flat", None)
        # Memory for the graph: the vectors and the links of two layers, with a margin. The build uses one process,
        # because the server's shared memory may be too small for several.
        mebibytes = min(_MAX_BUILD_MIB, 64 + count * (4 * dimension + 24 * params.links + 200) * 5 // (4 << 20))
        execute(f"SET LOCAL maintenance_work_mem = '{mebibytes}MB'")
        execute("SET LOCAL max_parallel_maintenance_workers = 0")
        execute(
            f"CREATE INDEX ON {table} USING hnsw (vector vector_ip_ops) "
            f"WITH (m = {params.links}, ef_construction = {max(params.build_depth, 2 * params.links)})"
        )
        progress(count, count)
        if count < 2:
            return BuiltVectors("hnsw", None)
        index = PgVectors(self._engine, self._build_id, count, dimension, graph=True, connection=self._connection)
        return BuiltVectors("hnsw", tune_search_depth(index, recall_trial(vectors), params, 32))


def _unsupported(params: DenseParams, bm25: Bm25Params, dimension: int) -> str:
    """Return why pgvector does not support these indexes, "" if it does."""
    if params.quantisation != "none":
        return "8-bit vectors are not supported: use an index without int8, or local files"
    if params.kind == "ivf":
        return "ivf indexes are not supported: use a flat or hnsw index, or local files"
    if bm25.backend != "bm25s":
        return f"the BM25 backend {bm25.backend!r} works with local files only"
    if params.kind != "flat":
        if dimension > _MAX_GRAPH_DIMENSION:
            return f"HNSW supports at most {_MAX_GRAPH_DIMENSION} dimensions, not {dimension}: use a flat index"
        if (
            params.links > _MAX_LINKS
            or params.build_depth > _MAX_BUILD_DEPTH
            or (params.search_depth or 0) > MAX_SEARCH_DEPTH
        ):
            return f"HNSW supports at most {_MAX_LINKS} links and depths of at most {_MAX_BUILD_DEPTH}"
    return ""


def _little_endian(weights: Any) -> bytes:
    return np.ascontiguousarray(weights, dtype=weights.dtype.newbyteorder("<")).tobytes()


def _sql_with_literal(statement: str, text: str) -> Any:
    from psycopg import sql

    return sql.SQL(statement) + sql.Literal(text)  # built from our own names


def _parse_comment(comment: str) -> dict[str, Any]:
    try:
        value = json.loads(comment.removeprefix("Plumbline: "))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
