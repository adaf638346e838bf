"""Open the index engines that a process uses, on first use, and close them together."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType

from retrieval.engines.engine import IndexEngine, IndexWriter
from retrieval.engines.record import EngineName, EngineRecord, new_record
from retrieval.errors import EngineError


@dataclass(frozen=True, slots=True)
class EngineTarget:
    """The target of an indexing job that writes to an engine.

    record: engine and build ID of the new generation. generation: hash of the generation. collection: its collection.
    """

    engine: IndexEngine
    record: EngineRecord
    generation: str
    collection: str

    def writer(self, folder: Path) -> AbstractContextManager[IndexWriter]:
        """Return a context manager that writes the indexes; see ``IndexEngine.writer``."""
        return self.engine.writer(self.record.build_id, folder, self.generation, self.collection)


class Engines:
    """The engines that a process can open. Thread-safe; a forked process must create its own instance."""

    def __init__(
        self,
        pgvector: str = "",
        milvus: str = "",
        *,
        milvus_token: str = "",
        own_database: str = "",
        own_file: str = "",
    ) -> None:
        """pgvector: a PostgreSQL URL. milvus: a server's address, or a file name that ends in .db.

        An empty address is taken from the generation's record, or else from the defaults. milvus_token: "user:password"
        or an API key. own_database: default of ``pgvector``: the URL of Plumbline's own database if that is PostgreSQL.
        own_file: default of ``milvus``.
        """
        self._given: dict[str, str] = {"pgvector": pgvector, "milvus": milvus}
        self._defaults: dict[str, str] = {"pgvector": own_database, "milvus": own_file}
        self._token = milvus_token
        self._open: dict[tuple[str, str], IndexEngine] = {}
        self._lock = Lock()

    def record(self, name: EngineName, recorded: str = "") -> EngineRecord:
        """Return a record for a new generation. Raises EngineError if the engine has no address.

        recorded: recorded address of the collection's last generation; used if no address was given for the engine.
        """
        given = self._given[name] or recorded
        if not given and not self._defaults[name]:
            raise _no_address_error(name)
        return new_record(name, self._engine(name, given).recorded if given else "")

    def of(self, record: EngineRecord) -> IndexEngine:
        """Return the engine of a generation. Raises EngineError if it has no address or its library is missing."""
        return self._engine(record.name, self._given[record.name] or record.address)

    def close(self) -> None:
        """Close all connections; engines are opened again when they are needed."""
        with self._lock:
            opened, self._open = tuple(self._open.values()), {}
        for engine in opened:
            engine.close()

    def __enter__(self) -> Engines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _engine(self, name: EngineName, address: str) -> IndexEngine:
        address = address or self._defaults[name]
        if not address:
            raise _no_address_error(name)
        with self._lock:
            engine = self._open.get((name, address))
            if engine is None:
                engine = self._open[name, address] = self._open_engine(name, address)
        return engine

    def _open_engine(self, name: EngineName, address: str) -> IndexEngine:
        if name == "milvus":
            from retrieval.engines.milvus_engine import MilvusEngine

            return MilvusEngine(address, self._token)
        from retrieval.engines.pgvector_engine import PgVectorEngine

        return PgVectorEngine(address)


def _no_address_error(name: EngineName) -> EngineError:
    server = "a Milvus server, or a file name that ends in .db" if name == "milvus" else "a PostgreSQL database"
    error = EngineError(name, "", f"its address is not set: give the address of {server}")
    error.parameter = f"{name}_url"
    return error


LOCAL = Engines()
"""Engines without given addresses: opens local files, and generations whose recorded address needs no password."""
