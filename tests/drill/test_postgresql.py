"""The tests of what goes through the store, run again on PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.drill.postgresql import URL, server

pytestmark = pytest.mark.drill

ROOT = Path(__file__).parents[2]
FILES = (
    "tests/data/test_store_migrates.py",
    "tests/data/test_store_both.py",
    "tests/data/test_schema.py",
    "tests/evaluation/test_run_store.py",
    "tests/evaluation/runs/test_experiment.py",
    "tests/retrieval/test_indexer.py",
    "tests/retrieval/test_retriever.py",
    "tests/app/test_keys.py",
    "tests/app/test_job_store.py",
    "tests/app/test_tenants.py",
)


def test_the_same_tests_pass_on_postgresql() -> None:
    with server() as url:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *FILES],
            cwd=ROOT,
            env={**{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}, URL: url},
            text=True,
            capture_output=True,
        )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    print(done.stdout.splitlines()[-1])
