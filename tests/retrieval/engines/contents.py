"""Read and damage the contents of an engine without Plumbline's code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, create_engine, text

from tests.retrieval.engines.conftest import Bench


def contents(bench: Bench) -> list[str]:
    """Return the IDs of the builds in the engine."""
    if bench.engine == "milvus":
        with _milvus(bench) as client:
            return sorted({name.split("_")[1] for name in client.list_collections()})
    with _connected(bench) as connection:
        tables = connection.execute(text("SELECT tablename FROM pg_tables WHERE tablename LIKE 'plumbline_index_%'"))
        return sorted({name.split("_")[2] for (name,) in tables})


def damage_vectors(bench: Bench) -> None:
    """Replace the vector of a chunk of every generation by the vector of another chunk."""
    if bench.engine == "milvus":
        with _milvus(bench) as client:
            for build_id in contents(bench):
                name = f"plumbline_{build_id}_vectors"
                (row,) = client.get(name, ids=[0], output_fields=["vector"])
                client.upsert(name, [{"position": 2, "vector": row["vector"]}])
        return
    with _connected(bench) as connection:
        for build_id in contents(bench):
            table = f"plumbline_index_{build_id}_vectors"
            connection.execute(
                text(f"UPDATE {table} SET vector = (SELECT vector FROM {table} WHERE position = 0) WHERE position = 2")
            )


def damage_words(bench: Bench) -> None:
    """Change the weights of a word, or of a chunk, of every generation."""
    if bench.engine == "milvus":
        with _milvus(bench) as client:
            for build_id in contents(bench):
                name = f"plumbline_{build_id}_words"
                (row,) = client.get(name, ids=[1], output_fields=["words"])
                client.upsert(name, [{"position": 1, "words": {key: 2 * x for key, x in row["words"].items()}}])
        return
    with _connected(bench) as connection:
        for build_id in contents(bench):
            table = f"plumbline_index_{build_id}_words"
            connection.execute(
                text(f"UPDATE {table} SET weights = substr(weights, 2) || '\\x00'::bytea WHERE word = 1")
            )


@contextmanager
def _milvus(bench: Bench) -> Iterator[Any]:
    from pymilvus import MilvusClient

    client = MilvusClient(bench.address)
    yield client
    client.close()


@contextmanager
def _connected(bench: Bench) -> Iterator[Connection]:
    engine = create_engine(bench.address)
    with engine.begin() as connection:
        yield connection
    engine.dispose()
