"""Workers that are killed in the middle of a job, as processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from app.accounts.tenants import collection_key_of, create_tenant_collection
from app.jobs.job import Job
from app.jobs.job_store import JobStore
from app.jobs.leases import LEASE_S, JobLeases
from app.jobs.requests import EvaluationRequest, IndexRequest
from app.jobs.staging import staging_folder
from app.jobs.worker import Worker
from app.pipeline import Pipeline
from app.settings import Settings
from data.columns import utc_now
from evaluation.runs.run_store import RunStore
from model.reader.prefix_decoder import save_prefix_decoder, warm_start

pytestmark = pytest.mark.drill

_WAIT_S = 600


@pytest.fixture
def pipeline(tmp_path: Path) -> Iterator[Pipeline]:
    save_prefix_decoder(warm_start(0), tmp_path / "reader", {})
    settings = Settings(home=tmp_path / "home", database="", encoder="", model=str(tmp_path / "reader"), device="cpu")
    with Pipeline(settings) as opened:
        yield opened


def start(pipeline: Pipeline) -> subprocess.Popen[bytes]:
    """``plumbline work`` on the pipeline's home."""
    ours = {key: value for key, value in os.environ.items() if not key.startswith("PLUMBLINE_")}
    command = [sys.executable, "-m", "app.cli", "work", "--home", str(pipeline.home)]
    return subprocess.Popen([*command, "--model", pipeline.settings.model], env={**ours, "OMP_NUM_THREADS": "1"})


def until(process: subprocess.Popen[bytes], true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _WAIT_S
    while not true():
        assert process.poll() is None, "the worker ended"
        assert time.monotonic() < deadline
        with suppress(subprocess.TimeoutExpired):  # waits without taking the worker's core
            process.wait(0.05)


def finish(pipeline: Pipeline, job: Job) -> Job:
    """Take the job up as the next worker does when the lease has ended, without waiting for that."""
    early = JobLeases(pipeline.store, "early")
    assert early.take() is None  # the killed worker's lease holds still
    later = JobLeases(pipeline.store, "later", now=lambda: utc_now() + timedelta(seconds=LEASE_S + 1))
    assert Worker(pipeline, leases=later).run_one()
    found = JobStore(pipeline.store).get("", job.id)
    assert found is not None
    return found


def get(pipeline: Pipeline, job: Job) -> Job:
    found = JobStore(pipeline.store).get("", job.id)
    assert found is not None
    return found


def test_an_index_job_whose_worker_was_killed_is_finished_by_the_next(pipeline: Pipeline) -> None:
    create_tenant_collection(pipeline.store, "", "house")
    job_id = uuid.uuid4().hex
    folder = staging_folder(pipeline.home, job_id)
    folder.mkdir(parents=True)
    names = [f"{number}.txt" for number in range(200)]
    for number, name in enumerate(names):
        (folder / name).write_text(" ".join(f"Sentence {n} of document {number} says {n * number}." for n in range(30)))
    with pipeline.store.read() as connection:
        key = collection_key_of(connection, "", "house")
    request = IndexRequest(tuple(names)).to_json()
    job = JobStore(pipeline.store).submit(job_id, "index", "", request, request_sha256="s", collection_key=key).job
    worker = start(pipeline)
    until(worker, lambda: any(s.step == "vectors" and s.done > 0 for s in get(pipeline, job).steps))
    worker.kill()
    worker.wait()
    assert get(pipeline, job).status == "running"
    done = finish(pipeline, job)
    assert (done.status, done.attempts, done.error) == ("succeeded", 2, None)
    assert done.result is not None
    assert done.result["documents"] == 200
    assert done.result["embedded"] < done.result["chunks"]  # what the killed one had embedded was kept
    assert not folder.exists()


def test_an_evaluation_whose_worker_was_killed_goes_on_with_its_samples(pipeline: Pipeline) -> None:
    questions = tuple({"id": str(n), "text": f"What is {n}?", "references": [str(n)]} for n in range(24))
    request = EvaluationRequest(questions, arms=("closed_book",), samples=2).to_json()
    job = JobStore(pipeline.store).submit(uuid.uuid4().hex, "evaluation", "", request, request_sha256="s").job
    worker = start(pipeline)
    until(worker, lambda: any(0 < s.done < 48 for s in get(pipeline, job).steps))
    worker.kill()
    worker.wait()
    run_id = get(pipeline, job).run_id
    assert run_id is not None
    before = RunStore(pipeline.store).load_run(run_id).samples
    assert 0 < before < 48
    done = finish(pipeline, job)
    assert (done.status, done.run_id) == ("succeeded", run_id)
    assert done.result is not None
    assert done.result["drawn"] == 48 - before


def test_a_worker_that_is_told_to_stop_hands_its_job_back_at_once(pipeline: Pipeline) -> None:
    questions = tuple({"id": str(n), "text": f"What is {n}?", "references": [str(n)]} for n in range(24))
    request = EvaluationRequest(questions, arms=("closed_book",), samples=2).to_json()
    job = JobStore(pipeline.store).submit(uuid.uuid4().hex, "evaluation", "", request, request_sha256="s").job
    worker = start(pipeline)
    until(worker, lambda: any(0 < s.done < 48 for s in get(pipeline, job).steps))
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=_WAIT_S) == 0
    waiting = get(pipeline, job)
    assert (waiting.status, waiting.attempts) == ("queued", 0)
