"""Read facts (subject, relation, value) from a database table or a file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Column as SqlColumn
from sqlalchemy import MetaData, Select, Table, create_engine, func, insert, or_, select
from sqlalchemy import Text as SqlText
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import NoSuchTableError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from data.answer_rows import answer_format, read_rows
from data.errors import DataError
from data.foreign_database import checked_url, driver_message, reading_engine
from data.refused import Refused, shown
from data.sources import SqlSource

TABLE = "facts"
REQUIRED = ("subject", "relation", "value")
"""Required columns of a fact table, compared without case.

The optional columns are ``cues`` (other words for the relation, separated by |) and ``tolerance`` (allowed deviation of
a number).
"""
_OPTIONAL = ("cues", "tolerance")
_NAMES_AT_ONCE = 300
_ROWS_AT_ONCE = 2000
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact, which states that the relation of the subject has the value.

    cues: other words for the relation. tolerance: allowed absolute deviation of a number; None to use the verifier's.
    """

    subject: str
    relation: str
    value: str
    cues: tuple[str, ...] = ()
    tolerance: float | None = None


class FactTable:
    """A table of facts in a database. Call ``close`` when done.

    engine: engine of the database. table: name of the table. shown_as: name of the source in messages. Raises DataError
    if the table is missing, empty or lacks a column, and in every method if the database fails.
    """

    def __init__(self, engine: Engine, table: str, shown_as: str) -> None:
        self._engine, self._where = engine, shown_as
        try:
            found = Table(table, MetaData(), autoload_with=engine)
        except NoSuchTableError:
            raise DataError(f"{shown_as}: there is no table {table!r}; name it after the URL: URL#TABLE") from None
        except SQLAlchemyError as error:
            raise DataError(f"{shown_as}: the database says: {driver_message(error)}") from None
        self._table = found
        columns = {name.lower(): found.c[name] for name in found.c.keys()}  # noqa: SIM118 - columns, not names
        missing = [name for name in REQUIRED if name not in columns]
        if missing:
            raise DataError(
                f"{shown_as}: table {table!r} has no column {missing[0]!r}, it has {', '.join(columns)}; a fact table "
                f"has {', '.join(REQUIRED)} and optionally {', '.join(_OPTIONAL)} (a view can rename columns)"
            )
        self._columns = {name: columns[name] for name in (*REQUIRED, *_OPTIONAL) if name in columns}
        self.table = table
        self.fingerprint, self.facts = self._summarise()

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def about(self, names: Sequence[str]) -> tuple[Fact, ...]:
        """Return the facts about subjects with these names, ordered by subject, relation and value.

        Names are compared without case.
        """
        subject = self._columns["subject"]
        found: set[Fact] = set()
        distinct = list(dict.fromkeys((*names, *(n.lower() for n in names))))
        for start in range(0, len(distinct), _NAMES_AT_ONCE):
            block = distinct[start : start + _NAMES_AT_ONCE]
            query = select(*self._columns.values()).where(or_(subject.in_(block), func.lower(subject).in_(block)))
            found.update(self._facts(query))
        return tuple(sorted(found, key=lambda f: (f.subject, f.relation, f.value)))

    def values_of(self, relation: str, most: int) -> tuple[str, ...]:
        """Return at most ``most`` distinct values of the relation over all subjects, sorted."""
        value, key = self._columns["value"], self._columns["relation"]
        query = select(value).where(key == relation).distinct().limit(most)
        return tuple(sorted(self._run(lambda c: [_text(row[0]) for row in c.execute(query)])))

    def _summarise(self) -> tuple[str, int]:
        """Return a SHA-256 (hex) over all rows, which does not depend on their order, and the number of rows."""
        total, count = 0, 0

        def read(connection: Connection) -> Iterator[str]:
            rows = connection.execution_options(stream_results=True, yield_per=_ROWS_AT_ONCE)
            for row in rows.execute(select(*self._columns.values())):
                yield repr(self._fact(row))

        for text in self._run(lambda c: list(read(c))):
            # A sum does not depend on the order in which a database returns its rows.
            total = (total + int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest())) % 2**256
            count += 1
        if not count:
            raise DataError(f"{self._where}: table {self.table!r} contains no facts")
        return hashlib.sha256(f"{count}:{total:x}".encode()).hexdigest(), count

    def _facts(self, query: Select[Any]) -> list[Fact]:
        return self._run(lambda c: [self._fact(row) for row in c.execute(query)])

    def _fact(self, row: Sequence[Any]) -> Fact:
        fields = dict(zip(self._columns, row, strict=True))
        cues = tuple(cue.strip() for cue in _text(fields.get("cues")).split("|") if cue.strip())
        return Fact(
            _text(fields["subject"]),
            _text(fields["relation"]),
            _text(fields["value"]),
            cues,
            self._tolerance(fields.get("tolerance")),
        )

    def _tolerance(self, value: Any) -> float | None:
        if value is None or not str(value).strip():
            return None
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = -1.0
        if not 0.0 <= number < float("inf"):
            raise DataError(
                f"{self._where}: a fact's tolerance is {value!r}: it must be a number of at least 0, or empty"
            )
        return number

    def _run(self, work: Callable[[Connection], list[_Row]]) -> list[_Row]:
        try:
            with self._engine.connect() as connection:
                return work(connection)
        except SQLAlchemyError as error:
            raise DataError(f"{self._where}: the database says: {driver_message(error)}") from None


def open_facts(source: str) -> FactTable:
    """Open a fact table.

    source: a database URL of SQLAlchemy, ``URL`` or ``URL#TABLE`` (default table: ``facts``), or the path of a file
    (CSV, TSV, JSON or JSONL). Raises DataError if the source cannot be opened, and the errors of FactTable.
    """
    if "://" not in source:
        return _from_file(Path(source))
    address, _, table = source.partition("#")
    where = SqlSource(address, "").shown.strip()
    return FactTable(reading_engine(checked_url(address, where)), table or TABLE, where)


def _from_file(path: Path) -> FactTable:
    layout = answer_format(path)
    if layout == "ragtruth":
        raise DataError(f"{shown(path)} is not a table of facts: give a CSV, TSV, JSON or JSONL file, or a URL")
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    table = Table(TABLE, MetaData(), *(SqlColumn(name, SqlText) for name in (*REQUIRED, *_OPTIONAL)))
    rows: list[dict[str, str | None]] = []
    for row in read_rows(path, layout):
        if isinstance(row, Refused):
            raise DataError(str(row))
        rows.append(_row(row.fields, row.where))
    with engine.begin() as connection:
        table.create(connection)
        if rows:
            connection.execute(insert(table), rows)
    return FactTable(engine, TABLE, shown(path))


def _row(fields: Mapping[str, object], where: str) -> dict[str, str | None]:
    lower = {str(name).strip().lower(): value for name, value in fields.items()}
    row = {name: _text(lower.get(name)) or None for name in (*REQUIRED, *_OPTIONAL)}
    missing = [name for name in REQUIRED if row[name] is None]
    if missing:
        raise DataError(f"{where}: the fact has no {missing[0]}; its fields are {', '.join(lower)}")
    return row


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value.isoformat() if isinstance(value, date | time) else " ".join(str(value).split())
