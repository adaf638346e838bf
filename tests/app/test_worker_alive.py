"""The file that a worker touches for the health check of its container."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

from app.jobs.worker import Worker
from app.pipeline import Pipeline
from tests.app.collection_calls import upload


def test_a_worker_gives_a_sign_of_life_during_a_job(
    client: TestClient, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    signs: list[bool] = []
    enough = Event()

    def alive() -> None:
        signs.append(True)
        if len(signs) == 3:
            enough.set()

    def long_job(*_: object) -> dict[str, object]:
        assert enough.wait(60), "no sign of life came while the job ran"
        return {}

    monkeypatch.setattr("app.jobs.worker.run_index", long_job)
    assert upload(client, "notes", {"tea.txt": "Tea."}).status_code == 202
    assert Worker(pipeline, alive=alive, beat_s=0.01).run_one()


def test_a_worker_without_a_job_gives_one_too(pipeline: Pipeline) -> None:
    def alive() -> None:
        signs.append(True)
        if len(signs) == 3:
            worker.stopping.set()

    signs: list[bool] = []
    worker = Worker(pipeline, alive=alive)
    worker.run(poll_s=0.001)
    assert len(signs) == 3


def test_a_file_that_cannot_be_written_is_refused(typed: Callable[..., SimpleNamespace], tmp_path: Path) -> None:
    found = typed("work", "--once", "--alive-file", tmp_path / "nowhere" / "alive", "--home", tmp_path / "home")
    assert found.code == 2
    assert "--alive-file" in found.err
    assert "nowhere" in found.err


def test_the_file_is_touched(typed: Callable[..., SimpleNamespace], tmp_path: Path) -> None:
    assert typed("work", "--once", "--alive-file", tmp_path / "alive", "--home", tmp_path / "home").code == 0
    assert (tmp_path / "alive").exists()
