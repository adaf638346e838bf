"""Read documents from a query to a user's database."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, time
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from data.document_json import document_from_fields
from data.documents import Document
from data.errors import DataError
from data.fields import FieldError
from data.foreign_database import checked_url, driver_message, reading_engine
from data.refused import Refused, part
from data.sources import SqlSource

_ROWS_AT_ONCE = 500
_SELECT = re.compile(r"\s*(?:--[^\n]*\n\s*)*(select|with|values|table)\b", re.IGNORECASE)
_REQUIRED = ("id", "text")


def check_sql(source: SqlSource) -> None:
    """Raise DataError for errors that can be detected without connecting: a bad URL, no driver, no SELECT, no file."""
    checked_url(source.url, source.shown)
    if not _SELECT.match(source.query):
        raise DataError(f"{source.shown}: the query must be a SELECT or WITH statement; the database is only read")


def read_sql(source: SqlSource) -> Iterator[Document | Refused]:
    """Yield a document for each row, and a Refused for each row with an invalid ID or text.

    The columns are id and text, and optionally title; other columns that are not null become metadata. Names are
    compared without case. Rows are streamed, with a server-side cursor if available. The transaction is read-only on
    SQLite and PostgreSQL, and always rolled back.

    Raises DataError if the database cannot be reached, the query fails, columns are missing, or the database fails
    midway, so that a part of a table is never treated as the entire table.
    """
    check_sql(source)
    engine = reading_engine(checked_url(source.url, source.shown))
    try:
        with engine.connect() as connection:
            yield from _rows(connection, source)
    except SQLAlchemyError as error:
        raise DataError(f"{source.shown}: the database says: {driver_message(error)}") from None
    finally:
        engine.dispose()


def _rows(connection: Connection, source: SqlSource) -> Iterator[Document | Refused]:
    options: dict[str, Any] = {"stream_results": True, "yield_per": _ROWS_AT_ONCE}
    if connection.dialect.name == "postgresql":
        options["postgresql_readonly"] = True
    # exec_driver_sql, because ":name" in a user's query is not a parameter.
    result = connection.execution_options(**options).exec_driver_sql(source.query)
    names = [name.lower() for name in result.keys()]  # noqa: SIM118 - a result iterates over rows
    missing = [name for name in _REQUIRED if name not in names]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if missing or doubled:
        problem = f"has no column {missing[0]!r}" if missing else f"has the column {doubled[0]!r} twice"
        raise DataError(
            f"{source.shown}: the query {problem}, it gives {', '.join(names)}; id and text are required, title "
            "is optional (SELECT number AS id, body AS text ...)"
        )
    for number, row in enumerate(result, start=1):
        yield _document(dict(zip(names, row, strict=True)), f"{source.shown} row {number}")


def _document(values: Mapping[str, Any], where: str) -> Document | Refused:
    try:
        fields: dict[str, object] = {
            name: _value(values[name], name) for name in ("id", "title", "text") if name in values
        }
        others = {name: _value(value, name) for name, value in values.items() if name not in fields}
        return document_from_fields({**fields, "metadata": others})
    except FieldError as error:
        return part(where, str(error))


def _value(value: Any, name: str) -> object:
    """Return a database value as a JSON type or text. Raises FieldError for binary values."""
    if isinstance(value, bytes | bytearray | memoryview):
        raise FieldError(f'"{name}" is binary ({len(value):,} bytes), it must be text: CAST it or omit the column')
    if value is None or isinstance(value, str | int):
        return value
    return value.isoformat() if isinstance(value, date | time) else str(value)
