"""A PostgreSQL server that stops and starts again while the service runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.accounts.keys import KeyLimits, KeyStore
from app.jobs.worker import Worker
from app.pipeline import Pipeline
from app.service.application import create_app
from app.settings import Settings
from tests.app.collection_calls import upload
from tests.app.test_service_database_gone import CALLS
from tests.databases import copy_rows
from tests.scale.postgresql import Server, server

pytestmark = pytest.mark.scale

QUESTION = {"question": "How long is the warranty?"}


@pytest.fixture
def own() -> Iterator[Server]:
    with server() as started:
        yield started


@pytest.fixture
def pipeline(
    own: Server,
    make_pipeline: Callable[..., Pipeline],
    make_settings: Callable[..., Settings],
    home_copy: Path,
    first_words: type,
) -> Pipeline:
    copy_rows(home_copy / "plumbline.db", own.url)
    return make_pipeline(make_settings(home_copy, database=own.url), first_words())


def test_everything_is_503_with_the_reason_until_the_server_is_back(pipeline: Pipeline, own: Server) -> None:
    limits = KeyLimits(requests_per_minute=1000)
    key = KeyStore(pipeline.store).create("asks", ["admin"], limits=limits).secret
    headers = {"Authorization": f"Bearer {key}"}
    with TestClient(create_app(pipeline)) as client:
        assert client.post("/v1/query", json=QUESTION).status_code == 200
        waiting = upload(client, "notes", {"tea.txt": "Tea is served at five."})
        assert waiting.status_code == 202
        own.control("--mode", "immediate", "stop")
        ready = client.get("/readyz")
        assert ready.status_code == 503
        assert ready.json()["reasons"][0].startswith("database: ")
        assert "does not answer" in ready.json()["reasons"][0]
        for method, path, body in CALLS:
            for more in ({}, headers):
                reply = client.request(method, path, json=body, headers=more)
                assert reply.status_code == 503, (path, reply.status_code, reply.text[:300])
                assert "internal_error" not in reply.text
                assert str(own.folder) not in reply.text
        assert upload(client, "notes", {"tea.txt": "Tea."}).status_code == 503
        assert client.get("/livez").status_code == 200
        own.restart()
        client.app.state.answering.health._recheck_s = 0  # type: ignore[attr-defined]
        assert client.get("/readyz").status_code == 200
        for method, path, body in CALLS:
            if method == "GET" or path.endswith(("query", "retrieve")):
                assert client.request(method, path, json=body, headers=headers).status_code == 200, path
        assert Worker(pipeline).run_one()
        job = client.get(waiting.headers["location"]).json()
        assert (job["status"], job["attempts"]) == ("succeeded", 1)


def test_a_job_at_work_when_the_server_stops_is_finished_when_it_is_back(
    pipeline: Pipeline, own: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job does not fail: its lease ends, and it continues."""
    with TestClient(create_app(pipeline)) as client:
        waiting = upload(client, "notes", {"tea.txt": "Tea is served at five."})
        real = Pipeline.index

        def stopped(self: Pipeline, *given: object, **more: object) -> object:
            own.control("--mode", "immediate", "stop")
            try:
                return real(self, *given, **more)  # type: ignore[arg-type]
            finally:
                own.restart()

        monkeypatch.setattr(Pipeline, "index", stopped)
        Worker(pipeline, lease_s=1.5).run_one()
        monkeypatch.undo()
        job = client.get(waiting.headers["location"]).json()
        assert job["status"] in ("running", "queued"), job
        later = Worker(pipeline)
        while not later.run_one():
            later.stopping.wait(0.2)
        job = client.get(waiting.headers["location"]).json()
        assert job["status"] == "succeeded", job
