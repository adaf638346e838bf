"""The tests of what goes through the database, run again on PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.databases import POSTGRESQL
from tests.scale.postgresql import Server

pytestmark = pytest.mark.scale

ROOT = Path(__file__).parents[2]
STORE = (
    "tests/data/test_store_migrates.py",
    "tests/data/test_store_both.py",
    "tests/data/test_schema.py",
    "tests/evaluation/test_run_store.py",
    "tests/evaluation/test_run_upkeep.py",
    "tests/evaluation/runs/test_experiment.py",
    "tests/evaluation/correction/test_label_store.py",
    "tests/retrieval/test_indexer.py",
    "tests/retrieval/test_retriever.py",
    "tests/app/test_keys.py",
    "tests/app/test_job_store.py",
    "tests/app/test_job_turns.py",
    "tests/app/test_tenants.py",
)
SERVICE = (
    "tests/app/test_service_collections.py",
    "tests/app/test_service_evaluations.py",
    "tests/app/test_service_names.py",
    "tests/app/test_service_pages.py",
    "tests/app/test_service_tenants.py",
    "tests/app/test_service_uploads.py",
    "tests/app/labelling/test_label_service.py",
    "tests/app/watching/test_watch_pages.py",
    "tests/app/watching/test_watch_service.py",
)


@pytest.mark.parametrize("files", [STORE, SERVICE], ids=["store", "service"])
def test_the_same_tests_pass_on_postgresql(postgresql: Server, files: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        | {POSTGRESQL: postgresql.url},
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    print(done.stdout.splitlines()[-1])
