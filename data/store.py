"""The Store: writers and readers of the SQL database, and the check of its schema version.

The contents of the tables are up to the packages that own them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from sqlalchemy import URL, Connection, Engine, insert, inspect, select, text
from sqlalchemy.exc import DatabaseError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from data import postgresql, sqlite
from data.database_url import parse_url, prepare_file
from data.errors import DataError, SchemaVersionError, StoreBusyError
from data.migrations import can_migrate, migrate, stamp
from data.schema import SCHEMA_VERSION, meta, metadata

BUSY_TIMEOUT_S = 30.0
"""Seconds that a reader or writer waits for a locked database before StoreBusyError."""


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock of ``Store.hold``. check: raises StoreBusyError if the server has released it, because it was restarted or
    the connection was lost.
    """

    check: Callable[[], None]


class _Writing(threading.local):
    """Whether this thread is inside ``write``."""

    active = False


@dataclass(frozen=True, slots=True)
class _Engines:
    """Engines for reading and writing connections."""

    reader: Engine
    writer: Engine


class Store:
    """The open database. Thread-safe; a forked process must open its own.

    Create it with ``Store.open``; use it as a context manager, or call ``close``.
    """

    def __init__(self, url: URL, engines: _Engines, timeout_s: float) -> None:
        self._url = url
        self._reader = engines.reader
        self._writer = engines.writer
        self._timeout_s = timeout_s
        self._turn = threading.Lock()
        self._writing = _Writing()
        self._closed = False
        self._file: sqlite.FileId | None = None

    @classmethod
    def open(cls, url: str, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> Store:
        """Open a database by URL: ``sqlite:///folder/plumbline.db`` or ``postgresql://user@host/name``.

        An SQLite file and its folder are created if missing, and so are the tables. Raises DataError if the URL, the
        file, the folder or the server is unusable, and SchemaVersionError if the tables are of another version.
        """
        parsed = parse_url(url)
        if parsed.get_backend_name() == "sqlite":
            parsed = prepare_file(parsed)
            engines = _Engines(
                reader=sqlite.reader_engine(parsed, busy_timeout_s), writer=sqlite.writer_engine(parsed, busy_timeout_s)
            )
        else:
            engines = _Engines(
                reader=postgresql.reader_engine(parsed, busy_timeout_s),
                writer=postgresql.writer_engine(parsed, busy_timeout_s),
            )
        store = cls(parsed, engines, busy_timeout_s)
        try:
            store._check_schema()
        except BaseException:
            store.close()
            raise
        return store

    @property
    def name(self) -> str:
        """Display name of the database: its file, or its URL without the password."""
        return str(self.path) if self.path else self._url.render_as_string(hide_password=True)

    @property
    def path(self) -> Path | None:
        """The file of an SQLite database, absolute; None for a server."""
        return Path(self._url.database or "") if self._url.get_backend_name() == "sqlite" else None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that reads one consistent snapshot, as of its first statement, and cannot write.

        Keep it short: the write-ahead log grows until the oldest reader is done. Raises DataError (see ``Store.open``),
        and StoreBusyError if no connection becomes available in time.
        """
        with self._explained(writing=False), self._reader.connect() as connection:
            self._check_file()
            yield connection

    @property
    def shared(self) -> bool:
        """Whether processes of several machines may use the database: it is a server."""
        return self.path is None

    @contextmanager
    def write(self, *, exclusive: bool = True) -> Iterator[Connection]:
        """Yield a writing connection in a transaction. It commits at the end of the block and rolls back on any error.

        One exclusive block runs at a time among all processes; others wait. exclusive=False lets a server run several
        blocks at once, for statements that are correct whatever other writers do, such as an update of a locked row.
        An SQLite database runs every block alone. After the block, the data survives a crash and a power failure.

        Raises StoreBusyError if a lock is not available within the timeout, DataError if the database is read-only,
        damaged or does not answer, or the disk is full (nothing of the block is kept then), and RuntimeError if called
        inside another ``write`` of the same thread.
        """
        if self._writing.active:
            raise RuntimeError("write() inside write(): the thread would wait for itself. Pass the connection on")
        with ExitStack() as stack:
            if exclusive or self.path:
                if not self._turn.acquire(timeout=self._timeout_s):
                    raise StoreBusyError(sqlite.busy_message(self.name, self._timeout_s))
                stack.callback(self._turn.release)
            self._writing.active = True
            stack.callback(setattr, self._writing, "active", False)
            stack.enter_context(self._explained(writing=True))
            if self.path:
                stack.enter_context(sqlite.writer_lock(self.path, self._timeout_s))
            self._check_file()
            connection = stack.enter_context(self._writer.begin())
            if self.path:
                sqlite.check_log(self.path)
            elif exclusive:
                postgresql.lock_writers(connection)
            yield connection
            # A commit to a file that is no longer at its path is lost, so it must not be reported as stored.
            self._check_file()

    @contextmanager
    def hold(self, name: str) -> Iterator[Lock]:
        """Hold a named lock among all processes that use the database server; it ends with the block or the process.

        Raises StoreLockedError at once if another process holds it, DataError if the server does not answer. Does
        nothing for an SQLite file, whose processes run on one machine and lock files.
        """
        if self.path:
            yield Lock(lambda: None)
            return

        def check() -> None:
            try:
                connection.scalar(text("SELECT 1"))
            except DBAPIError as error:
                raise StoreBusyError(
                    f"the connection to {self.name} that held the lock {name!r} was lost: start this step again"
                ) from error

        with ExitStack() as stack:
            with self._explained(writing=True):
                connection = stack.enter_context(postgresql.held_lock(self._url, name, self._timeout_s))
            yield Lock(check)

    def check(self) -> None:
        """Raise DataError if the file of an SQLite database was deleted, moved or replaced since it was opened."""
        self._check_file()

    def _check_file(self) -> None:
        if self.path is None:
            return
        if self._file is not None:
            sqlite.check_same_file(self.path, self._file)
        elif self.path.exists():
            self._file = sqlite.file_id(self.path)

    def close(self) -> None:
        """Close every unused connection. Repeated calls have no effect."""
        self._closed = True
        self._reader.dispose()
        self._writer.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _explained(self, writing: bool) -> Iterator[None]:
        """Convert database errors that a user can act on to DataError; others pass through."""
        if self._closed:
            raise DataError(f"the database {self.name} was closed: open it again")
        try:
            yield
        except PoolTimeoutError as error:
            number, kind = (postgresql.WRITERS, "writing") if writing else (sqlite.READERS, "reading")
            raise StoreBusyError(
                f"all {number} {kind} connections of {self.name} stayed in use for {self._timeout_s:g} "
                "seconds: try again with fewer requests at once"
            ) from error
        except DBAPIError as error:
            explained = self._translated(error, writing)
            if explained is None:
                raise
            raise explained from error

    def _translated(self, error: DBAPIError, writing: bool) -> DataError | None:
        if self.path:
            return sqlite.translated(error, self.path, self._timeout_s, writing)
        return postgresql.translated(error, self.name, writing)

    def _check_schema(self) -> None:
        with self.read() as connection:
            found = self._version(connection)
        if found is None:
            with self.write() as connection:
                # Another process may have created the tables since the check.
                found = self._version(connection)
                if found is None:
                    metadata.create_all(connection)
                    connection.execute(insert(meta).values(key="schema_version", value=SCHEMA_VERSION))
                    stamp(connection)
                    return
        if found is not None and found != SCHEMA_VERSION and can_migrate(found):
            with self.write() as connection:
                found = self._version(connection)  # another process may have migrated them since the check
                found = migrate(connection, found) if found is not None else None
        if found != SCHEMA_VERSION:
            raise SchemaVersionError(self.name, found or "", SCHEMA_VERSION)

    def _version(self, connection: Connection) -> str | None:
        """The stored schema version; None if there are no tables yet. Raises DataError for foreign tables."""
        tables = set(inspect(connection).get_table_names())
        if self.path is None:
            tables &= set(metadata.tables)  # a server's database may hold other applications' tables
        if not tables:
            return None
        found: str | None = None
        if meta.name in tables:
            try:
                found = connection.scalar(select(meta.c.value).where(meta.c.key == "schema_version"))
            except DatabaseError as error:
                if self._translated(error, writing=False):
                    raise
                found = None  # a table of this name, but not ours
        if found is None:
            raise DataError(
                f"the database {self.name} belongs to another program (it holds {', '.join(sorted(tables)[:5])} and no "
                "Plumbline schema version): give Plumbline a database of its own"
            )
        return found
