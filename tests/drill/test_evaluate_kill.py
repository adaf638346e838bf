"""kill -9 of `plumbline evaluate` in mid-run, then the same command: the numbers of an undisturbed run."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from data.samples_paths import sample_corpus_path

pytestmark = pytest.mark.drill
ASK = ["evaluate", "samples", "--limit", "16", "--n", "2", "--json"]
SAMPLES = 16 * 3 * 2


@pytest.fixture
def home(tmp_path: Path) -> Path:
    main(["index", str(sample_corpus_path()), "--collection", "c", "--home", str(tmp_path)])
    return tmp_path


def _start(home: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "app.cli", *ASK, "--home", str(home)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def _committed(home: Path) -> int:
    with sqlite3.connect(f"file:{home / 'plumbline.db'}?mode=ro", uri=True) as connection:
        return int(connection.execute("select count(*) from samples").fetchone()[0])


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_run_again_it_reports_the_same_numbers(home: Path, how: signal.Signals) -> None:
    for after in (10, 40):
        process = _start(home)
        deadline = time.monotonic() + 300
        while _committed(home) < after and process.poll() is None and time.monotonic() < deadline:
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
        process.send_signal(how)
        process.communicate(timeout=60)
        assert process.returncode == (130 if how == signal.SIGINT else -how)
    kept = _committed(home)
    assert 40 <= kept < SAMPLES
    process = _start(home)
    out, _ = process.communicate(timeout=600)
    assert process.returncode in (0, 4)
    disturbed = _undated(out)
    with sqlite3.connect(home / "plumbline.db") as connection:
        connection.execute("pragma foreign_keys = on")
        connection.execute("delete from runs")
    process = _start(home)
    out, _ = process.communicate(timeout=600)
    assert _undated(out) == disturbed


def _undated(out: str) -> dict[str, Any]:
    """The document without the date on which the run was begun."""
    document: dict[str, Any] = json.loads(out)
    del document["first_screen"]["measured"]["date"]
    return document
