"""SQLite specifics: engines for one writer and many readers, the writer's lock, and error codes."""

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
"""Maximum number of open reading connections; further readers wait."""


def strict_json(value: object) -> str:
    """JSON text that both databases accept: NaN and infinities raise ValueError."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def writer_engine(url: URL, timeout_s: float) -> Engine:
    """Create an engine with exactly one connection, whose transactions take SQLite's write lock at their start.

    BEGIN IMMEDIATE, because a transaction that reads first and then meets another writer fails at once, regardless of
    the timeout. synchronous=FULL, because under NORMAL a power failure may lose a commit in WAL mode, and a sample or
    document that was reported as stored must be there. The cost is one fsync a commit.
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
    """Create an engine with a pool of READERS read-only connections; each transaction reads one snapshot."""
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
    """Hold the file lock that allows one writing process at a time; raises StoreBusyError after timeout_s.

    SQLite has its own lock, but before 3.51.3 two connections that write or checkpoint at the same instant can damage a
    WAL database. With this lock there is one writer among all of Plumbline's processes too. It is a kernel lock: a
    killed process releases it. The lock files stay, because removing one would split the lock in two.

    Two locks make it fair: a waiting process (.lock) holds the head of the queue (.queue), so that a process that
    writes continuously cannot starve it. With a single lock that happened.
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
            # Closing would unlock as well, but not if a child forked in between still holds the file.
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
    """Take the lock by polling every few milliseconds (flock has no timeout); raises TimeoutError."""
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
"""Device and inode of a database's file."""


def file_id(database: Path) -> FileId:
    """Return the id of the file at the path. Raises DataError if it is missing or not accessible."""
    try:
        found = database.stat()
    except OSError as error:
        raise gone(database) from error
    return found.st_dev, found.st_ino


def check_same_file(database: Path, opened: FileId) -> None:
    """Raise DataError if the opened file is no longer the one at its path: writes to it would be lost."""
    if file_id(database) != opened:
        raise gone(database)


def check_log(database: Path) -> None:
    """Raise DataError if a writer's write-ahead log is missing: its contents are lost."""
    if not database.with_name(f"{database.name}-wal").exists():
        raise gone(database)


def gone(database: Path) -> DataError:
    """Error for a database that was deleted, moved or replaced while open."""
    return DataError(
        f"the database {database} was deleted, moved or replaced while it was in use: nothing more is read from it or "
        "kept in it. Put the file back, or restart with the one that is there now"
    )


def busy_message(database: object, timeout_s: float) -> str:
    """Message for a lock timeout."""
    return (
        f"the database {database} stayed locked for {timeout_s:g} seconds: another process is writing to it. "
        "Wait for it (or stop it) and try again"
    )


def translated(error: DBAPIError, database: Path, timeout_s: float, writing: bool) -> DataError | None:
    """Return the DataError for an SQLite error that the user can act on; None for a bug in our code.

    writing: whether it happened on the writing connection (a write by a reader is a bug of ours).
    """
    cause: Any = error.orig
    code = getattr(cause, "sqlite_errorcode", None)
    if not isinstance(code, int):
        # Python's own message, without SQLite's code, for bytes that are not text: only damage causes it.
        if isinstance(cause, sqlite3.OperationalError) and str(cause).startswith("Could not decode to UTF-8"):
            return DataError(
                f"the database {database} is damaged (a text holds bytes that are no UTF-8): restore a backup, or move "
                "it away and index again"
            )
        return None
    says = f"SQLite says: {cause}"
    match code & 0xFF:  # the low byte is the primary code, the others are the variant
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
            return StoreBusyError(busy_message(database, timeout_s))
        case sqlite3.SQLITE_READONLY if writing:
            return DataError(
                f"the database {database} is read-only ({says}): make the file and its folder writable, or use another"
            )
        case sqlite3.SQLITE_FULL:
            return StoreFullError(
                f"no space left for the database {database} ({says}): nothing of this step was kept. "
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
                f"the database {database} cannot be opened ({says}): check that it is a file, that it and its folder "
                "may be read and written, and that not too many files are open"
            )
        case sqlite3.SQLITE_IOERR:
            return DataError(
                f"the disk of the database {database} failed ({says}): nothing of this step was kept. "
                "Check its space and health, then run it again"
            )
    missing = _NO_TABLE.fullmatch(str(cause))
    if missing is not None and missing[1] in metadata.tables:  # another table is a bug of ours
        return DataError(
            f"the database {database} has lost its tables ({says}): another program changed or replaced it. Restore "
            "it, or move it away and restart"
        )
    return None
