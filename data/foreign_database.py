"""A database of the user's own, which is only ever read: its URL checked, its engine, its errors in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from data.errors import DataError


def checked_url(address: str, shown_as: str) -> URL:
    """SQLAlchemy's URL. shown_as: the source without its password, for messages.

    Raises DataError for what can be seen without asking the database: no URL, no driver, no SQLite file.
    """
    try:
        url = make_url(address)
        url.get_dialect().import_dbapi()
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        raise DataError(f"{shown_as}: not a database URL that SQLAlchemy knows ({type(error).__name__})") from None
    except ImportError as error:
        raise DataError(f"{shown_as}: the driver is missing ({error}); install it with pip") from None
    if url.get_backend_name() == "sqlite" and not (url.database and Path(url.database).is_file()):
        raise DataError(f"{shown_as}: there is no database file {url.database or '(in memory)'}")
    return url


def reading_engine(url: URL) -> Engine:
    """An engine whose connections cannot write, where the database can be told so (SQLite). Dispose of it."""
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _never_write)
    return engine


def driver_message(error: SQLAlchemyError) -> str:
    """The driver's own words, without SQLAlchemy's link and without the statement, on one line."""
    return " ".join(str(getattr(error, "orig", None) or error).split())[:300]


def _never_write(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA query_only = ON")
    cursor.close()
