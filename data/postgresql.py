"""PostgreSQL: engines for writers and readers, locks between processes, and error codes."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, text
from sqlalchemy.exc import DBAPIError, DisconnectionError, InterfaceError, NoSuchModuleError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from data.errors import DataError, StoreBusyError, StoreFullError, StoreLockedError, StoreUnavailableError
from data.schema import metadata
from data.sqlite import READERS, strict_json

WRITERS = 4
"""Maximum number of open writing connections of one process. Further writers wait."""
_CONNECTION = {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""Connection options of libpq, in seconds. A server that lost its power is detected within a minute."""
_FRESH_S = 0.1
_NO_TABLE = re.compile(r'relation "(?:\w+\.)?(\w+)" does not exist')
_BUSY = frozenset({"55P03", "57014", "40001", "40P01", "53300"})
"""Codes of lock_not_available, query_canceled, serialization_failure, deadlock_detected and too_many_connections."""
# Without these settings, the server would keep the locks of a client that lost its power for two hours.
_SESSION = "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"


def reader_engine(url: URL, timeout_s: float) -> Engine:
    """Return an engine with a pool of READERS read-only connections. Each transaction reads one snapshot.

    timeout_s: maximum time to wait for a connection or a lock, in seconds.
    """
    return _engine(
        url,
        timeout_s,
        pool_size=READERS,
        max_overflow=0,
        pool_timeout=timeout_s,
        isolation_level="REPEATABLE READ",  # one snapshot for the transaction, as in SQLite's WAL mode
        execution_options={"postgresql_readonly": True},
    )


def writer_engine(url: URL, timeout_s: float) -> Engine:
    """Return an engine with a pool of WRITERS connections, which wait at most timeout_s seconds for a lock."""
    return _engine(url, timeout_s, pool_size=WRITERS, max_overflow=0, pool_timeout=timeout_s)


def _engine(url: URL, timeout_s: float, **more: Any) -> Engine:
    """Return an engine that replaces connections that the server has closed.

    A connection is tested before use, unless it was used within the last _FRESH_S seconds, to save a round trip. Raises
    DataError if the driver is missing.
    """
    # Options in the URL take precedence.
    given = {name: value for name, value in _CONNECTION.items() if name not in url.query}
    try:
        engine = create_engine(url, json_serializer=strict_json, connect_args=given, **more)
    except (ImportError, NoSuchModuleError) as error:
        raise DataError(
            f"the driver of {url.drivername} is not installed ({error}): run pip install 'plumbline-rag[postgresql]' "
            "and write the URL as postgresql+psycopg://user:password@host/name"
        ) from error

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _record: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"{_SESSION}; SET lock_timeout = {max(1, int(timeout_s * 1000))}")
        connection.commit()

    ended = threading.Event()

    @event.listens_for(engine, "engine_disposed")
    def disposed(_engine: Engine) -> None:
        ended.set()

    @event.listens_for(engine, "checkin")
    def returned(_connection: object, record: ConnectionPoolEntry) -> None:
        record.info["returned"] = time.monotonic()
        if ended.is_set():  # a thread that was still reading when the store was closed
            record.invalidate()

    @event.listens_for(engine, "checkout")
    def taken(connection: Any, record: ConnectionPoolEntry, _proxy: object) -> None:
        if time.monotonic() - record.info.get("returned", time.monotonic()) < _FRESH_S:
            return
        try:
            engine.dialect.do_ping(connection)
        except Exception as error:  # any error of the driver; SQLAlchemy then opens another connection
            raise DisconnectionError from error

    return engine


def lock_writers(connection: Connection) -> None:
    """Take the lock of the only exclusive writer among all processes, until the transaction ends. Waits for it."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _key("exclusive writer")})


@contextmanager
def held_lock(url: URL, name: str, timeout_s: float) -> Iterator[Connection]:
    """Hold a named lock on a new connection, which is yielded.

    The server releases the lock when the connection ends, even if the process is killed. Raises StoreLockedError at
    once if another session holds the lock.
    """
    engine = _engine(url, timeout_s, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        if not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": _key(name)}):
            raise StoreLockedError(f"another process holds the lock {name!r} in the database")
        yield connection


def translated(error: DBAPIError, name: str, writing: bool) -> DataError | None:
    """Return the DataError for a server's error that the user can act on; None for a bug in Plumbline.

    name: display name of the database. writing: whether the error occurred on a writing connection.
    """
    cause: Any = error.orig
    state = getattr(cause, "sqlstate", None)
    says = f"PostgreSQL says: {' '.join(str(cause).split())[:300]}"
    if state in _BUSY:
        return StoreBusyError(
            f"the database {name} was busy ({says}): another process holds a lock that this step needs, or too many "
            "processes are connected. Try again"
        )
    if state == "53100":  # disk_full
        return StoreFullError(f"no space left for the database {name} ({says}): nothing of this step was stored")
    if state == "25006" and writing:  # read_only_sql_transaction; on a reading connection it is a bug in Plumbline
        return DataError(f"the database {name} is read-only ({says}): it may be a standby server. Use the primary one")
    if state == "42501":  # insufficient_privilege
        return DataError(
            f"the user of the database {name} lacks a permission ({says}): grant all rights on the database and on its "
            "schema public"
        )
    missing = _NO_TABLE.search(str(cause))
    if state == "42P01" and missing is not None and missing[1] in metadata.tables:  # other tables: a bug in Plumbline
        return DataError(
            f"the database {name} has lost its tables ({says}): another program changed it. Restore it, or give "
            "Plumbline a new database"
        )
    if error.connection_invalidated or isinstance(error, OperationalError | InterfaceError):
        return StoreUnavailableError(f"the database {name} does not answer ({says}): check that the server runs")
    return None


def _key(name: str) -> int:
    """Return the signed 64-bit key of an advisory lock."""
    return int.from_bytes(hashlib.sha256(f"plumbline {name}".encode()).digest()[:8], "big", signed=True)
