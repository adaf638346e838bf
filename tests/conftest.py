"""The database that tests of the store run on: an SQLite file, or (in `make test-scale`) one of a PostgreSQL server.

Also: Ctrl-C is heard by the processes that tests start.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import new_database, postgresql_server

if "PYTEST_XDIST_WORKER" in os.environ:
    # One thread a worker, before torch is imported: the workers already fill the cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells start what runs behind them so, and children inherit it: those that are to end on Ctrl-C never would.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def database_url(tmp_path: Path) -> Iterator[str]:
    """A new, empty database."""
    if not postgresql_server():
        yield f"sqlite:///{tmp_path}/plumbline.db"
        return
    with new_database(postgresql_server()) as url:
        yield url
