"""SQLite: engines for one writer and many readers, the writer's lock, and error codes."""

from __future__ import annotations

import fcntl
import json
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from data.errors import DataError, StoreBusyError, StoreFullError
from data.private import private_opener
from data.schema import metadata

_NO_TABLE = re.compile(r"no such table: (?:main\.)?(\w+)")
READERS = 16
"""Maximum number of open reading connections. Further readers wait."""


def strict_json(value: object) -> str:
    """Return JSON text that both databases accept. Raises ValueError for NaN and infinities."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def writer_engine(url: URL, timeout_s: float) -> Engine:
    """Return an engine with exactly one connection, whose transactions take SQLite's write lock at their start.

    Transactions use BEGIN IMMEDIATE, because one that reads first and then conflicts with another writer fails at once,
    regardless of the timeout. synchronous is FULL, because with NORMAL a power failure may lose a commit in WAL mode.
    This costs one fsync for each commit. timeout_s: maximum time to wait for SQLite's lock, in seconds.
    """
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=1,
        max_overflow=0,
        json_serializer=strict_json,
        connect_args={"timeout": timeout_s, "isolation_level": None},
    )

    @event.listens_for(engine, "connect")
    def connected(connection: sqlite3.Connection, _record: object) -> None:
        mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        if mode != "wal":
            raise DataError(
                f"the database {url.database} cannot use write-ahead logging (SQLite says {mode!r}): "
                "keep it on a local disk, not on a network or read-only file system"
            )
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=FULL")

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def reader_engine(url: URL, timeout_s: float) -> Engine:
    """Return an engine with a pool of READERS read-only connections. Each transaction reads one snapshot.

    timeout_s: maximum time to wait for a connection or a lock, in seconds.
    """
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=READERS,
        max_overflow=0,
        pool_timeout=timeout_s,
        json_serializer=strict_json,
        connect_args={"timeout": timeout_s, "isolation_level": None},
    )

    @event.listens_for(engine, "connect")
    def connected(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA query_only=ON")

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


@contextmanager
def writer_lock(database: Path, timeout_s: float) -> Iterator[None]:
    """Hold the file lock that allows one writing process at a time. Raises StoreBusyError after timeout_s seconds.

    SQLite has its own lock, but before 3.51.3 two connections that write or checkpoint at the same instant can damage a
    WAL database. This lock allows only one writer among all processes. The kernel releases it if a process is killed.
    The lock files are not removed, because two processes could then lock different files.

    There are two locks for fairness: a process that waits for .lock holds .queue, so that a process that writes
    continuously has to queue behind it.
    """
    deadline = time.monotonic() + timeout_s
    with _lock_file(database, ".lock") as turn, _lock_file(database, ".queue") as queue:
        try:
            _lock(queue, deadline)
            _lock(turn, deadline)
        except TimeoutError:
            raise StoreBusyError(busy_message(database, timeout_s)) from None
        finally:
            fcntl.flock(queue, fcntl.LOCK_UN)
        try:
            yield
        finally:
            # Closing the file would not unlock it if a child process was forked in the meantime.
            fcntl.flock(turn, fcntl.LOCK_UN)


def _lock_file(database: Path, suffix: str) -> IO[bytes]:
    path = database.with_name(database.name + suffix)
    try:
        return open(path, "ab", opener=private_opener)
    except OSError as error:
        raise DataError(
            f"cannot write to the database {database}: its lock file {path} cannot be opened ({error.strerror}). "
            "Make its folder writable, or use another database"
        ) from error


def _lock(file: IO[bytes], deadline: float) -> None:
    """Take the lock by polling every few milliseconds, since flock has no timeout. Raises TimeoutError."""
    pause = 0.0005
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise TimeoutError from None
            time.sleep(pause)
            pause = min(2 * pause, 0.004)


FileId = tuple[int, int]
"""Device and inode of a database file."""


def file_id(database: Path) -> FileId:
    """Return the device and inode of a file. Raises DataError if it is missing or not accessible."""
    try:
        found = database.stat()
    except OSError as error:
        raise gone(database) from error
    return found.st_dev, found.st_ino


def check_same_file(database: Path, opened: FileId) -> None:
    """Raise DataError if the file at the path is not the opened one, because writes would be lost."""
    if file_id(database) != opened:
        raise gone(database)


def check_log(database: Path) -> None:
    """Raise DataError if the write-ahead log is missing, because its contents are lost."""
    if not database.with_name(f"{database.name}-wal").exists():
        raise gone(database)


def gone(database: Path) -> DataError:
    """Return the error for a database that was deleted, moved or replaced while it was open."""
    return DataError(
        f"the database {database} was deleted, moved or replaced while it was in use: nothing more is read from it or "
        "written to it. Restore the file, or restart Plumbline to use the current one"
    )


def busy_message(database: object, timeout_s: float) -> str:
    """Return the message for a lock timeout."""
    return (
        f"the database {database} stayed locked for {timeout_s:g} seconds: another process is writing to it. "
        "Wait for it (or stop it) and try again"
    )


def translated(error: DBAPIError, database: Path, timeout_s: float, writing: bool) -> DataError | None:
    """Return the DataError for an SQLite error that the user can act on; None for a bug in Plumbline.

    writing: whether the error occurred on the writing connection. A write on a reading connection is a bug.
    """
    cause: Any = error.orig
    code = getattr(cause, "sqlite_errorcode", None)
    if not isinstance(code, int):
        # Python's message for bytes that are not UTF-8, which has no SQLite code. Only damage causes it.
        if isinstance(cause, sqlite3.OperationalError) and str(cause).startswith("Could not decode to UTF-8"):
            return DataError(
                f"the database {database} is damaged (a text contains bytes that are not UTF-8): restore a backup, or "
                "move it away and index again"
            )
        return None
    says = f"SQLite says: {cause}"
    match code & 0xFF:  # the low byte is the primary code; the other bytes are the variant
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
            return StoreBusyError(busy_message(database, timeout_s))
        case sqlite3.SQLITE_READONLY if writing:
            return DataError(
                f"the database {database} is read-only ({says}): make the file and its folder writable, or use another"
            )
        case sqlite3.SQLITE_FULL:
            return StoreFullError(
                f"no space left for the database {database} ({says}): nothing of this step was stored. "
                "Free some space and run it again"
            )
        case sqlite3.SQLITE_NOTADB:
            return DataError(f"{database} is not an SQLite database ({says}): choose another file, or move it away")
        case sqlite3.SQLITE_CORRUPT:
            return DataError(
                f"the database {database} is damaged ({says}): restore a backup, or move it away and index again"
            )
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return DataError(
                f"the database {database} cannot be opened ({says}): check that it is a file, that you may read and "
                "write it and its folder, and that not too many files are open"
            )
        case sqlite3.SQLITE_IOERR:
            return DataError(
                f"the disk of the database {database} failed ({says}): nothing of this step was stored. "
                "Check its space and health, then run it again"
            )
    missing = _NO_TABLE.fullmatch(str(cause))
    if missing is not None and missing[1] in metadata.tables:  # other tables: a bug in Plumbline
        return DataError(
            f"the database {database} has lost its tables ({says}): another program changed or replaced it. Restore "
            "it, or move it away and restart"
        )
    return None
