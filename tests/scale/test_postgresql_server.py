"""The server that the other tests use: it answers over its socket and over TCP, and has pgvector."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from tests.scale.postgresql import Server

pytestmark = pytest.mark.scale


def test_a_new_database_answers_over_both_addresses_and_has_vectors(postgresql: Server, database_url: str) -> None:
    for url in (database_url, postgresql.tcp_url(database_url)):
        engine = create_engine(url)
        with engine.begin() as connection:
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
            distance = connection.scalar(text("SELECT '[1,2]'::vector <-> '[1,4]'::vector"))
        engine.dispose()
        assert distance == 2


def test_tcp_needs_the_password(postgresql: Server, database_url: str) -> None:
    url = postgresql.tcp_url(database_url).replace(postgresql.password, "wrong")
    with pytest.raises(OperationalError, match="password authentication failed"):
        create_engine(url).connect()
