"""Store the indexes of a generation in two Milvus collections: dense vectors, and sparse vectors of word weights.

The address is that of a server (http://host:19530), or a file name that ends in .db, which Milvus Lite opens inside
this process.
"""

from __future__ import annotations

import importlib
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from retrieval.engines.engine import BuiltVectors, IndexFacts, IndexWriter, OpenIndexes, VectorProgress
from retrieval.engines.milvus_search import (
    MAX_SEARCH_DEPTH,
    REQUEST_TIMEOUT_S,
    MilvusVectors,
    MilvusWords,
    vectors_name,
    words_name,
)
from retrieval.errors import EngineError, EngineUnavailableError, GenerationGoneError
from retrieval.sparse.lexical import LexicalIndex
from retrieval.sparse.params import Bm25Params
from retrieval.sparse.served import Bm25Index, load_vocabulary
from retrieval.vectors.building import vector_blocks
from retrieval.vectors.faiss_index import Vectors
from retrieval.vectors.params import DenseParams, resolved_kind
from retrieval.vectors.search_depth import recall_trial, tune_search_depth

NAME = "milvus"
_FILE = ".db"
_BUILD_TIMEOUT_S = 3_600.0
"""Timeout in seconds of an insert, a flush or an index build."""
_ROWS_PER_INSERT = 1_000
_MAX_LINKS = 2_048
_NOT_FOUND = 100
_UNAVAILABLE = (1, 2)
"""Milvus error codes of a failed connection."""
_files: Counter[str] = Counter()
_files_lock = Lock()


class MilvusEngine:
    """The IndexEngine of a Milvus server or file. It connects on first use."""

    def __init__(self, address: str, token: str = "") -> None:
        """address: a server's URL, or a file name that ends in .db. token: "user:password" or an API key.

        Raises EngineError for another address.
        """
        if not (address.startswith(("http://", "https://")) or address.endswith(_FILE)):
            raise EngineError(NAME, address, f"give http://HOST:19530, or a file whose name ends in {_FILE}")
        self.address = self.recorded = address
        self._token = token
        self._client: Any = None
        self._lock = Lock()

    def close(self) -> None:
        """Close the connection, and the file if no other engine of this process uses it."""
        with self._lock:
            client, self._client = self._client, None
        if client is None:
            return
        with suppress(Exception):  # the server may be gone
            client.close()
        if self.address.endswith(_FILE):
            with _files_lock:
                _files[self.address] -= 1
                last = not _files[self.address]
            if last:
                from milvus_lite.server_manager import server_manager_instance

                server_manager_instance.release_server(self.address)

    def check(self, params: DenseParams, bm25: Bm25Params, dimension: int) -> None:
        """See ``IndexEngine.check``."""
        problem = _unsupported(params, bm25)
        if problem:
            raise EngineError(NAME, self.address, problem)
        with self.connected() as client:
            client.list_collections(timeout=REQUEST_TIMEOUT_S)

    @contextmanager
    def writer(self, build_id: str, folder: Path, generation: str, collection: str) -> Iterator[IndexWriter]:
        """See ``IndexEngine.writer``. Milvus has no transactions: an exception drops what was written."""
        try:
            yield _Writer(self, build_id, folder, f"Plumbline: generation {generation} of {collection}")
        except BaseException:
            with suppress(EngineError):
                self.drop(build_id)
            raise

    def open(self, build_id: str, folder: Path, facts: IndexFacts) -> OpenIndexes:
        """See ``IndexEngine.open``. The vectors are written last, so their number shows that the build is complete."""
        name = vectors_name(build_id)
        with self.connected(name) as client:
            client.load_collection(name, timeout=_BUILD_TIMEOUT_S)
            client.load_collection(words_name(build_id), timeout=_BUILD_TIMEOUT_S)
            # Milvus Lite loads its sparse index on the first search, which takes over 15 s for 100,000 chunks.
            client.search(
                words_name(build_id),
                [{0: 1.0}],
                limit=1,
                anns_field="words",
                search_params={"metric_type": "IP"},
                timeout=_BUILD_TIMEOUT_S,
            )
            rows = client.query(
                name, filter="", output_fields=["count(*)"], consistency_level="Strong", timeout=REQUEST_TIMEOUT_S
            )
        if int(rows[0]["count(*)"]) != facts.chunks:
            raise self.missing_error(name)
        dense = MilvusVectors(self, build_id, facts.chunks, facts.dimension, facts.kind == "hnsw")
        if facts.kind == "hnsw" and facts.search_depth is not None:
            dense.set_search_depth(facts.search_depth)
        return OpenIndexes(dense, MilvusWords(self, build_id, load_vocabulary(folder)))

    def drop(self, build_id: str) -> None:
        """See ``IndexEngine.drop``."""
        with self.connected() as client:
            existing = set(client.list_collections(timeout=REQUEST_TIMEOUT_S))
            for name in (vectors_name(build_id), words_name(build_id)):
                if name in existing:
                    client.drop_collection(name, timeout=REQUEST_TIMEOUT_S)

    @contextmanager
    def connected(self, name: str = "") -> Iterator[Any]:
        """Yield the client. Errors of the server and the network become EngineError.

        name: name of the Milvus collection in use; if it does not exist, GenerationGoneError is raised.
        """
        self._check_installed()
        import grpc
        from pymilvus.exceptions import MilvusException

        try:
            yield self._open_client()
        except MilvusException as error:
            if error.code == _NOT_FOUND and name:
                raise self.missing_error(name) from error
            if error.code in _UNAVAILABLE or isinstance(error.__cause__, grpc.RpcError):
                raise self._unavailable_error(str(error.message)) from error
            raise EngineError(NAME, self.address, f"it failed: {error.message}") from error
        except (grpc.RpcError, grpc.FutureTimeoutError, ValueError) as error:
            # A closed channel raises ValueError.
            details = error.details() if isinstance(error, grpc.Call) else str(error)
            raise self._unavailable_error(str(details)) from error

    def missing_error(self, name: str) -> GenerationGoneError:
        """Return the error for a Milvus collection that does not exist or lacks rows."""
        reason = (
            f"there is no complete collection {name} of this generation; open the collection again if a newer "
            "generation was published, or else index the same sources again"
        )
        return GenerationGoneError(NAME, self.address, reason)

    def _check_installed(self) -> None:
        """Raise EngineError, which names the extra, if the client is not installed."""
        # Import milvus_lite here, because pymilvus's own message would name another package.
        modules = ("grpc", "pymilvus", "milvus_lite") if self.address.endswith(_FILE) else ("grpc", "pymilvus")
        try:
            for module in modules:
                importlib.import_module(module)
        except ImportError as error:
            reason = f"its client is not installed ({error}): run pip install 'plumbline-rag[milvus]'"
            raise EngineError(NAME, self.address, reason) from error

    def _open_client(self) -> Any:
        with self._lock:
            if self._client is not None:
                return self._client
            from pymilvus import MilvusClient

            for library in ("pymilvus", "milvus_lite"):  # they log every error with a traceback
                logging.getLogger(library).setLevel(logging.CRITICAL)
            if self.address.endswith(_FILE):
                Path(self.address).absolute().parent.mkdir(parents=True, exist_ok=True)
            # A dedicated connection does not share gRPC's back-off after a failure, so it finds a restarted server.
            # Pings are rare, because a server closes a connection that pings often during a long index build.
            options = {"grpc.use_local_subchannel_pool": 1, "grpc.keepalive_time_ms": 600_000}
            connection_options = {"dedicated": True, "grpc_options": options}
            self._client = MilvusClient(
                self.address, token=self._token, timeout=REQUEST_TIMEOUT_S, **connection_options
            )
            if self.address.endswith(_FILE):
                with _files_lock:
                    _files[self.address] += 1
            return self._client

    def _unavailable_error(self, reason: str) -> EngineUnavailableError:
        if not self.address.endswith(_FILE):
            self.close()  # the old client would not find a restarted server
        advice = "Check that the server runs and the address is right"
        if self.address.endswith(_FILE):
            advice = "One process at a time can open the file: for several, run a Milvus server and give its address"
        return EngineUnavailableError(NAME, self.address, f"it does not answer ({' '.join(reason.split())}). {advice}")


class _Writer:
    """An IndexWriter that creates and fills both Milvus collections."""

    def __init__(self, engine: MilvusEngine, build_id: str, folder: Path, description: str) -> None:
        self._engine, self._build_id, self._folder, self._description = engine, build_id, folder, description

    def write_words(self, lexical: LexicalIndex) -> None:
        """Store a sparse vector for each chunk that has words, and write the vocabulary to a file."""
        if not isinstance(lexical, Bm25Index):
            raise AssertionError("check() refuses the other backend")
        from pymilvus import DataType

        name = words_name(self._build_id)
        self._create(name, "words", DataType.SPARSE_FLOAT_VECTOR, {})
        data, indices, indptr = lexical.columns
        words = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        order = np.argsort(indices, kind="stable")
        chunks, words, weights = np.asarray(indices)[order], words[order], np.asarray(data)[order]
        starts = np.flatnonzero(np.diff(chunks, prepend=-1)).tolist()
        ends = [*starts[1:], len(chunks)]
        rows: list[dict[str, Any]] = []
        for start, end in zip(starts, ends, strict=False):
            weighted = dict(zip(words[start:end].tolist(), weights[start:end].tolist(), strict=True))
            rows.append({"position": int(chunks[start]), "words": weighted})
            if len(rows) == _ROWS_PER_INSERT:
                self._insert(name, rows)
                rows = []
        self._insert(name, rows)
        self._index(name, "words", "SPARSE_INVERTED_INDEX", {})
        lexical.save_vocabulary(self._folder)

    def write_vectors(self, vectors: Vectors, params: DenseParams, progress: VectorProgress) -> BuiltVectors:
        """Store the vectors and build their index."""
        from pymilvus import DataType

        count, dimension = int(vectors.shape[0]), int(vectors.shape[1])
        kind = resolved_kind(params, count)
        name = vectors_name(self._build_id)
        self._create(name, "vector", DataType.FLOAT_VECTOR, {"dim": dimension})
        for start, block in vector_blocks(vectors):
            for offset in range(0, len(block), _ROWS_PER_INSERT):
                part = block[offset : offset + _ROWS_PER_INSERT]
                rows = [{"position": start + offset + row, "vector": vector} for row, vector in enumerate(part)]
                self._insert(name, rows)
            progress(start + len(block), count)
        if kind == "flat":
            self._index(name, "vector", "FLAT", {})
            return BuiltVectors("flat", None)
        self._index(name, "vector", "HNSW", {"M": params.links, "efConstruction": params.build_depth})
        if count < 2:
            return BuiltVectors("hnsw", None)
        index = MilvusVectors(self._engine, self._build_id, count, dimension, graph=True)
        return BuiltVectors("hnsw", tune_search_depth(index, recall_trial(vectors), params, 32))

    def _create(self, name: str, field: str, kind: Any, options: dict[str, Any]) -> None:
        from pymilvus import DataType

        with self._engine.connected() as client:
            schema = client.create_schema(
                auto_id=False, enable_dynamic_field=False, description=self._description[:250]
            )
            schema.add_field("position", DataType.INT64, is_primary=True)
            schema.add_field(field, kind, **options)
            client.create_collection(name, schema=schema, consistency_level="Strong", timeout=REQUEST_TIMEOUT_S)

    def _insert(self, name: str, rows: list[dict[str, Any]]) -> None:
        if rows:
            with self._engine.connected(name) as client:
                client.insert(name, rows, timeout=_BUILD_TIMEOUT_S)

    def _index(self, name: str, field: str, kind: str, options: dict[str, Any]) -> None:
        with self._engine.connected(name) as client:
            client.flush(name, timeout=_BUILD_TIMEOUT_S)
            index_params = client.prepare_index_params()
            index_params.add_index(field, index_type=kind, metric_type="IP", params=options)
            client.create_index(name, index_params, timeout=_BUILD_TIMEOUT_S)
            client.load_collection(name, timeout=_BUILD_TIMEOUT_S)


def _unsupported(params: DenseParams, bm25: Bm25Params) -> str:
    """Return why Milvus does not support these indexes, "" if it does."""
    if params.quantisation != "none":
        return "8-bit vectors are not supported: use an index without int8, or local files"
    if params.kind == "ivf":
        return "ivf indexes are not supported: use a flat or hnsw index, or local files"
    if bm25.weighting != "lucene" or bm25.backend != "bm25s":
        return f"BM25 supports only 'lucene' of bm25s, not {bm25.weighting!r} of {bm25.backend}: use local files"
    if params.kind != "flat" and (params.links > _MAX_LINKS or (params.search_depth or 0) > MAX_SEARCH_DEPTH):
        return f"HNSW supports at most {_MAX_LINKS} links and a search depth of at most {MAX_SEARCH_DEPTH}"
    return ""
