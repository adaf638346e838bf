"""Fixture: the database for tests of the store, an SQLite file or (in `make test-scale`) one on a PostgreSQL server.

Importing this file also restores Ctrl-C for processes that tests start.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import new_database, postgresql_server

if "PYTEST_XDIST_WORKER" in os.environ:
    # One thread per test worker, set before torch is imported, because the workers already use all cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells start background jobs with SIGINT ignored, and child processes inherit this, so Ctrl-C would not end them.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def database_url(tmp_path: Path) -> Iterator[str]:
    """Yield the URL of a new, empty database."""
    if not postgresql_server():
        yield f"sqlite:///{tmp_path}/plumbline.db"
        return
    with new_database(postgresql_server()) as url:
        yield url
