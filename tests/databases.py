"""New databases for tests on a PostgreSQL server, empty or with the rows of an SQLite file."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, func, insert, make_url, select, text, update

from data.schema import collections, meta, metadata
from data.store import Store

POSTGRESQL = "PLUMBLINE_TEST_POSTGRESQL"
"""Environment variable with the URL of a database on a server that may create others. Unset: tests use SQLite."""


def postgresql_server() -> str:
    """Return the URL of the server for tests; "" for none."""
    return os.environ.get(POSTGRESQL, "")


@contextmanager
def new_database(server_url: str) -> Iterator[str]:
    """Yield the URL of a new, empty database on the server, and drop it at the end."""
    name = f"plumbline_{uuid.uuid4().hex}"
    engine = create_engine(server_url, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"))
        yield make_url(server_url).set(database=name).render_as_string(hide_password=False)
        with engine.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    finally:
        engine.dispose()


def copy_rows(source: Path, target_url: str) -> None:
    """Copy all rows of an SQLite database to an empty database of a server."""
    with (
        Store.open(f"sqlite:///{source}") as here,
        Store.open(target_url) as there,
        here.read() as reader,
        there.write() as writer,
    ):
        published: dict[int, int | None] = {}
        for table in metadata.sorted_tables:
            rows = [dict(row) for row in reader.execute(select(table)).mappings()]
            if table is collections:  # a collection and its generation refer to each other
                published = {row["id"]: row.pop("current_generation_id") for row in rows}
            if rows and table is not meta:
                writer.execute(insert(table), rows)
            numbered = table.autoincrement_column
            if rows and numbered is not None:
                sequence = func.pg_get_serial_sequence(table.name, numbered.name)
                writer.scalar(select(func.setval(sequence, max(row[numbered.name] for row in rows))))
        for key, generation in published.items():
            chosen = update(collections).where(collections.c.id == key)
            writer.execute(chosen.values(current_generation_id=generation))
