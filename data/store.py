"""The Store: one writer and many readers of the SQL database, and the check of its schema version.

The contents of the tables are up to the packages that own them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from sqlalchemy import URL, Connection, Engine, create_engine, insert, inspect, make_url, select
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, NoSuchModuleError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from data import sqlite
from data.errors import DataError, SchemaVersionError, StoreBusyError
from data.migrations import can_migrate, migrate, stamp
from data.private import make_private_folder, private_opener
from data.schema import SCHEMA_VERSION, meta, metadata

BUSY_TIMEOUT_S = 30.0
"""Seconds that a reader or writer waits for a locked database before StoreBusyError."""


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
        self._writing_thread: int | None = None
        self._closed = False
        self._file: sqlite.FileId | None = None

    @classmethod
    def open(cls, url: str, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> Store:
        """Open a database by URL: ``sqlite:///folder/plumbline.db`` or ``postgresql://user@host/name``.

        An SQLite file and its folder are created if missing, and so are the tables. Raises DataError if the URL, the
        file, the folder or the server is unusable, and SchemaVersionError if the tables are of another version.
        """
        parsed = _parse(url)
        if parsed.get_backend_name() == "sqlite":
            parsed = _prepare_file(parsed)
            engines = _Engines(
                reader=sqlite.reader_engine(parsed, busy_timeout_s), writer=sqlite.writer_engine(parsed, busy_timeout_s)
            )
        else:
            engines = _server_engines(parsed, busy_timeout_s)
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

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """The single writing connection, in a transaction: committed at the end of the block, rolled back on any error.

        One thread of one process holds it at a time; others wait. After the block, the data survives a crash and a
        power failure. Raises StoreBusyError if the lock is not available within the timeout, DataError if the file is
        read-only, the disk full or the database damaged (nothing of the block is kept then), and RuntimeError if called
        inside another ``write`` of the same thread.
        """
        if self._writing_thread == threading.get_ident():
            raise RuntimeError("write() inside write(): the thread would wait for itself. Pass the connection on")
        with ExitStack() as stack:
            if not self._turn.acquire(timeout=self._timeout_s):
                raise StoreBusyError(sqlite.busy_message(self.name, self._timeout_s))
            stack.callback(self._turn.release)
            self._writing_thread = threading.get_ident()
            stack.callback(setattr, self, "_writing_thread", None)
            stack.enter_context(self._explained(writing=True))
            if self.path:
                stack.enter_context(sqlite.writer_lock(self.path, self._timeout_s))
            self._check_file()
            connection = stack.enter_context(self._writer.begin())
            if self.path:
                sqlite.check_log(self.path)
            yield connection
            # A commit to a file that is no longer at its path is lost, so it must not be reported as stored.
            self._check_file()

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
            raise StoreBusyError(
                f"all {sqlite.READERS} reading connections of {self.name} stayed in use for {self._timeout_s:g} "
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
        if isinstance(error, OperationalError):
            return DataError(f"the database {self.name} does not answer: {error.orig}. Check that the server runs")
        return None

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
            raise SchemaVersionError(
                f"the database {self.name} has schema version {found}, this Plumbline needs version {SCHEMA_VERSION}: "
                f"use the Plumbline that made it, or move the database away and index again"
            )

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


def _parse(url: str) -> URL:
    """Parse the URL. Raises DataError unless it names SQLite or PostgreSQL."""
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, ValueError) as error:
        raise DataError(
            "the database URL cannot be read: write it as sqlite:///folder/plumbline.db (three slashes and a path) or "
            "postgresql://user:password@host/name"
        ) from error
    if backend not in ("sqlite", "postgresql") or (backend == "sqlite" and parsed.drivername not in _SQLITE_DRIVERS):
        raise DataError(f"databases of the kind {parsed.drivername!r} are not supported: use sqlite or postgresql")
    return parsed


_SQLITE_DRIVERS = ("sqlite", "sqlite+pysqlite")


def _prepare_file(url: URL) -> URL:
    """Create the folder and the file of an SQLite database if missing, with access for their owner only.

    Returns the URL with the file's absolute path.
    """
    name = url.database or ""
    if name in ("", ":memory:") or name.startswith("file:") or url.query:
        raise DataError(
            f"the SQLite database {name or '(no name)'!r} is not a plain file: writer and readers must be able to open "
            "the same one. Give a path, as in sqlite:///folder/plumbline.db"
        )
    # Absolute, so that it stays valid when the process changes its working directory.
    path = Path(name).absolute()
    try:
        make_private_folder(path.parent)
    except OSError as error:
        raise DataError(
            f"the folder of the database {path} cannot be made ({error.strerror}): choose another place"
        ) from error
    if path.is_dir():
        raise DataError(f"the database {path} is a folder: name a file in it, such as {path / 'plumbline.db'}")
    if not path.exists():
        with suppress(OSError):  # SQLite reports problems of its location
            open(path, "xb", opener=private_opener).close()
    return url.set(database=str(path))


def _server_engines(url: URL, timeout_s: float) -> _Engines:
    """PostgreSQL engines with the same guarantees as SQLite's."""
    try:
        reader = create_engine(
            url,
            pool_size=sqlite.READERS,
            max_overflow=0,
            pool_timeout=timeout_s,
            isolation_level="REPEATABLE READ",  # one snapshot for the whole block, as in WAL mode
            execution_options={"postgresql_readonly": True},
            json_serializer=sqlite.strict_json,
        )
        writer = create_engine(url, pool_size=1, max_overflow=0, json_serializer=sqlite.strict_json)
    except (ImportError, NoSuchModuleError) as error:
        raise DataError(
            f"the driver of {url.drivername} is not installed ({error}): run pip install 'psycopg[binary]' and write "
            "the URL as postgresql+psycopg://user:password@host/name"
        ) from error
    return _Engines(reader, writer)
