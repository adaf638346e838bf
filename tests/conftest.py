"""The database that tests of the store run on: an SQLite file, or (in the drill) one of a PostgreSQL server's; and that
Ctrl-C is heard by the processes that tests start.
"""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

POSTGRESQL = "PLUMBLINE_TEST_POSTGRESQL"
"""URL of a server's database in which others may be made."""

if "PYTEST_XDIST_WORKER" in os.environ:
    # One thread a worker, before torch is imported: the workers already fill the cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells start what runs behind them so, and children inherit it: those that are to end on Ctrl-C never would.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def database_url(tmp_path: Path) -> Iterator[str]:
    """A new, empty database."""
    server = os.environ.get(POSTGRESQL)
    if not server:
        yield f"sqlite:///{tmp_path}/plumbline.db"
        return
    name = f"plumbline_{uuid.uuid4().hex}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"))
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
        with engine.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    finally:
        engine.dispose()
