"""What an engine holds, read and damaged without Plumbline's own code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, create_engine, text

from tests.retrieval.engines.conftest import Bench


def contents(bench: Bench) -> list[str]:
    """The ids of the builds that hold something."""
    with _connected(bench) as connection:
        tables = connection.execute(text("SELECT tablename FROM pg_tables WHERE tablename LIKE 'plumbline_index_%'"))
        return sorted({name.split("_")[2] for (name,) in tables})


def damage_vectors(bench: Bench) -> None:
    """Exchange the vectors of two chunks of the newest generation."""
    with _connected(bench) as connection:
        for build_id in contents(bench):
            table = f"plumbline_index_{build_id}_vectors"
            connection.execute(
                text(f"UPDATE {table} SET vector = (SELECT vector FROM {table} WHERE position = 0) WHERE position = 2")
            )


def damage_words(bench: Bench) -> None:
    """Double the weights of a word of every generation."""
    with _connected(bench) as connection:
        for build_id in contents(bench):
            table = f"plumbline_index_{build_id}_words"
            connection.execute(
                text(f"UPDATE {table} SET weights = substr(weights, 2) || '\\x00'::bytea WHERE word = 1")
            )


@contextmanager
def _connected(bench: Bench) -> Iterator[Connection]:
    engine = create_engine(bench.address)
    with engine.begin() as connection:
        yield connection
    engine.dispose()
