"""Fixtures of the tests marked ``scale``: one PostgreSQL server a process, a new database a test."""

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
    """A new, empty database on it."""
    with new_database(postgresql.url) as url:
        yield url
