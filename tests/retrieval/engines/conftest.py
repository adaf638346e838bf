"""Fixtures for tests that run with each index engine. Engines other than files need the extra ``scale``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from data.store import Store
from retrieval.collections import open_retriever
from retrieval.engines.engines import Engines
from retrieval.engines.record import EngineName
from retrieval.generations.index_params import IndexParams
from retrieval.indexing.index_target import IndexTarget
from retrieval.indexing.indexer import ProgressListener, index_documents
from retrieval.indexing.report import IndexReport
from retrieval.retriever import Retriever
from tests.databases import new_database
from tests.retrieval.engines.milvus_servers import milvus
from tests.scale.postgresql import Server, server

OUTSIDE = [pytest.param(name, marks=pytest.mark.scale) for name in ("pgvector", "milvus", "milvus-server")]
ENGINES = ["local", *OUTSIDE]


@dataclass(frozen=True)
class Bench:
    """A store, a home, and an engine for the indexes at an address."""

    store: Store
    home: Path
    encoder: Any
    engine: EngineName
    engines: Engines
    address: str = ""

    def index(
        self,
        documents: Any,
        collection: str = "c",
        *,
        new: bool = True,
        params: IndexParams | None = None,
        progress: ProgressListener | None = None,
    ) -> IndexReport:
        """Index the documents. new: whether to name the engine; otherwise the collection's engine is used."""
        target = IndexTarget(self.engine if new else None, self.engines)
        return index_documents(
            self.store,
            self.home,
            collection,
            documents,
            self.encoder,
            params=params,
            target=target,
            progress=progress,
        )

    def open(self, collection: str = "c") -> Retriever:
        return open_retriever(self.store, self.home, collection, self.encoder, self.engines)

    def local(self) -> Bench:
        """Return the same store and home with indexes in files."""
        return replace(self, engine="local")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    with server("max_connections=100") as started:
        yield started


@pytest.fixture
def milvus_server(tmp_path: Path) -> Iterator[str]:
    with milvus(tmp_path / "served.db") as started:
        yield started.url


@pytest.fixture
def vector_database(postgresql: Server) -> Iterator[str]:
    with new_database(postgresql.url) as url:
        yield url


@pytest.fixture
def bench(request: pytest.FixtureRequest, store: Store, home: Path, encoder: Any) -> Iterator[Bench]:
    """A bench for the engine that is the indirect parameter. "milvus-server" is Milvus Lite in another process."""
    if request.param == "pgvector":
        address = request.getfixturevalue("vector_database")
        with Engines(pgvector=address) as engines:
            yield Bench(store, home, encoder, "pgvector", engines, address)
    elif request.param == "local":
        with Engines() as engines:
            yield Bench(store, home, encoder, "local", engines)
    else:
        address = str(home / "m.db")
        if request.param == "milvus-server":
            address = request.getfixturevalue("milvus_server")
        with Engines(milvus=address) as engines:
            yield Bench(store, home, encoder, "milvus", engines, address)


@pytest.fixture
def make_bench(
    request: pytest.FixtureRequest, store: Store, home: Path, encoder: Any
) -> Iterator[Callable[[str], Bench]]:
    """A function that creates a bench for an address, with the engine that the test module names as ENGINE."""
    engine: EngineName = request.module.ENGINE
    opened: list[Engines] = []

    def make(address: str) -> Bench:
        opened.append(Engines(**{engine: address}))
        return Bench(store, home, encoder, engine, opened[-1], address)

    yield make
    for engines in opened:
        engines.close()
