"""Fixtures of the tests marked ``scale``: one PostgreSQL server per process, and a new database per test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.databases import new_database
from tests.scale.postgresql import Server, server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server with pgvector, for the session."""
    with server("max_connections=300") as started:
        yield started


@pytest.fixture
def database_url(postgresql: Server) -> Iterator[str]:
    """Yield the URL of a new, empty database on the server."""
    with new_database(postgresql.url) as url:
        yield url
