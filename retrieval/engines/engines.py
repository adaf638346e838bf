"""The engines that a process can reach: opened by name on first use, and closed together."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType

from retrieval.engines.engine import IndexEngine, IndexWriter
from retrieval.engines.record import ENGINE_NAMES, EngineName, EngineRecord, new_record
from retrieval.errors import EngineError, RetrievalError


@dataclass(frozen=True, slots=True)
class EngineTarget:
    """Where a job writes a new generation. record: its engine and new build id. generation: its hash."""

    engine: IndexEngine
    record: EngineRecord
    generation: str
    collection: str

    def writer(self, folder: Path) -> AbstractContextManager[IndexWriter]:
        """See ``IndexEngine.writer``."""
        return self.engine.writer(self.record.build_id, folder, self.generation, self.collection)


class Engines:
    """Addresses of the engines. Thread-safe; a forked process must make its own.

    pgvector: a PostgreSQL URL. An address that is not given is taken from the generation's record.
    """

    def __init__(self, pgvector: str = "", *, own_database: str = "") -> None:
        """own_database: URL of the project's own database if it is PostgreSQL; the default of ``pgvector``."""
        self._given: dict[str, str] = {"pgvector": pgvector}
        self._defaults: dict[str, str] = {"pgvector": own_database}
        self._open: dict[tuple[str, str], IndexEngine] = {}
        self._lock = Lock()

    def record(self, name: EngineName) -> EngineRecord:
        """A record for a new generation. Raises EngineError if the engine has no address."""
        given = self._given[name]
        if not given and not self._defaults[name]:
            raise _unaddressed(name)
        return new_record(name, self._engine(name, given).recorded if given else "")

    def of(self, record: EngineRecord) -> IndexEngine:
        """The engine of a generation. Raises EngineError if it has no address or its library is not installed."""
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
            raise _unaddressed(name)
        with self._lock:
            engine = self._open.get((name, address))
            if engine is None:
                engine = self._open[name, address] = _make(name, address)
        return engine


def checked_name(name: str) -> EngineName:
    """The name of an engine. Raises RetrievalError, listing the names, for another one."""
    for known in ENGINE_NAMES:
        if name == known:
            return known
    raise RetrievalError(f"the engine must be one of {', '.join(ENGINE_NAMES)}, not {name!r}", parameter="engine")


def _make(name: EngineName, address: str) -> IndexEngine:
    from retrieval.engines.pgvector_engine import PgVectorEngine

    return PgVectorEngine(address)


def _unaddressed(name: EngineName) -> EngineError:
    error = EngineError(name, "", "it has no address: give the URL of a PostgreSQL database")
    error.parameter = f"{name}_url"
    return error


LOCAL = Engines()
"""No addresses: local files, and generations whose record has an address that needs no password."""
