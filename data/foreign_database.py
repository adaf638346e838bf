"""Read-only access to users' databases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from data.errors import DataError


def checked_url(address: str, shown_as: str) -> URL:
    """Return the parsed database URL.

    address: a URL of SQLAlchemy. shown_as: the source without its password, for messages. Raises DataError for errors
    that can be detected without connecting: an invalid URL, a missing driver, a missing SQLite file.
    """
    try:
        url = make_url(address)
        url.get_dialect().import_dbapi()
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        raise DataError(f"{shown_as}: not a database URL that SQLAlchemy supports ({type(error).__name__})") from None
    except ImportError as error:
        raise DataError(f"{shown_as}: the driver is missing ({error}); install it with pip") from None
    if url.get_backend_name() == "sqlite" and not (url.database and Path(url.database).is_file()):
        raise DataError(f"{shown_as}: there is no database file {url.database or '(in memory)'}")
    return url


def reading_engine(url: URL) -> Engine:
    """Return an engine, whose connections are read-only if the database is SQLite. The caller disposes of it."""
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _set_read_only)
    return engine


def driver_message(error: SQLAlchemyError) -> str:
    """Return the driver's message on one line, without SQLAlchemy's link and the statement."""
    return " ".join(str(getattr(error, "orig", None) or error).split())[:300]


def _set_read_only(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA query_only = ON")
    cursor.close()
