"""The service when its database is locked, its disk fails, or its home changes."""

from __future__ import annotations

import errno
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from app.accounts.keys import KeyStore
from app.jobs.index_job import run_index
from app.jobs.leases import JobLeases
from app.jobs.worker import Worker
from app.pipeline import Pipeline
from app.service.api.resources import client_error
from app.service.application import create_app
from app.service.http.errors import ApiError
from data.columns import utc_now
from data.schema import queries
from data.store import Store
from retrieval.generations.collection_folder import collection_lock


@pytest.fixture
def pipeline(make_pipeline: Any, make_settings: Any, home_copy: Path, first_words: Any) -> Iterator[Pipeline]:
    found = make_pipeline(make_settings(home_copy), first_words())
    # The same database, waited for not half a minute but half a tenth of a second.
    with Store.open(found.settings.database_url, busy_timeout_s=0.05) as store:
        found.__dict__["store"] = store
        yield found


@contextmanager
def locked(pipeline: Pipeline) -> Iterator[None]:
    other = sqlite3.connect(pipeline.home / "plumbline.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        other.close()


def busy(response: Any) -> None:
    assert response.status_code == 503, response.text[:500]
    assert response.json()["error"]["code"] == "database_busy"
    assert int(response.headers["retry-after"]) >= 1


def test_what_needs_a_locked_database_is_told_to_come_back(client: TestClient, pipeline: Pipeline) -> None:
    files = [("files", ("a.txt", "Words."))]
    with locked(pipeline):
        busy(client.post("/v1/collections", json={"name": "house"}))
        busy(client.post("/v1/collections/notes/documents", files=files))
        busy(client.post("/v1/evaluations", json={"questions": "samples", "collection": "notes", "limit": 1}))
        assert client.get("/v1/collections").status_code == 200  # readers do not wait for writers
        assert client.get("/v1/jobs").json()["data"] == []
        assert list((pipeline.home / "staging").iterdir()) == []
    assert client.post("/v1/collections", json={"name": "house"}).status_code == 201
    assert client.post("/v1/collections/notes/documents", files=files).status_code == 202


def test_a_job_whose_database_is_locked_goes_on_when_it_is_free(client: TestClient, pipeline: Pipeline) -> None:
    job = client.post("/v1/collections/notes/documents", files=[("files", ("a.txt", "Words."))]).json()
    worker = Worker(pipeline)
    with locked(pipeline), pytest.raises(Exception, match="locked"):
        worker.run_one()
    assert worker.run_one()
    assert client.get(f"/v1/jobs/{job['id']}").json()["status"] == "succeeded"


def test_a_job_goes_on_that_was_at_work_when_the_database_was_locked(
    client: TestClient, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job is queued again as if it had not started, so nobody has to retry it."""
    job = client.post("/v1/collections/notes/documents", files=[("files", ("a.txt", "Words."))]).json()

    def while_locked(*given: Any) -> Any:
        with locked(pipeline):
            return run_index(*given)

    monkeypatch.setattr("app.jobs.worker.run_index", while_locked)
    assert Worker(pipeline).run_one()
    waiting = client.get(f"/v1/jobs/{job['id']}").json()
    assert (waiting["status"], waiting["attempts"], waiting["error"]) == ("queued", 0, None)
    monkeypatch.undo()
    later = JobLeases(pipeline.store, "another", now=lambda: utc_now() + timedelta(minutes=1))
    assert Worker(pipeline, leases=later).run_one()
    assert client.get(f"/v1/jobs/{job['id']}").json()["status"] == "succeeded"


def stored_queries(pipeline: Pipeline) -> list[str]:
    with pipeline.store.read() as connection:
        return list(connection.execute(select(queries.c.id)).scalars())


def test_answers_are_given_while_the_database_is_locked_and_stored_when_it_is_free(pipeline: Pipeline) -> None:
    before = stored_queries(pipeline)  # other tests ask the same pipeline
    with TestClient(create_app(pipeline)) as client:
        with locked(pipeline):
            replies = [client.post("/v1/query", json={"question": f"How long is warranty {n}?"}) for n in range(5)]
            assert [reply.status_code for reply in replies] == [200] * 5
            assert client.get("/").status_code == client.get("/collections").status_code == 200
        more = client.post("/v1/query", json={"question": "How long is the last warranty?"})
    found = [stored for stored in stored_queries(pipeline) if stored not in before]
    assert sorted(found) == sorted(reply.json()["id"] for reply in [*replies, more])


def test_a_server_that_stops_does_not_wait_for_a_locked_database_for_ever(
    pipeline: Pipeline, caplog: pytest.LogCaptureFixture
) -> None:
    with locked(pipeline), TestClient(create_app(pipeline)) as client:
        assert client.post("/v1/query", json={"question": "How long is the warranty?"}).status_code == 200
    assert "1 queries are not stored: the database is locked or unavailable" in caplog.text


def test_a_collection_that_somebody_else_indexes_is_waited_for(client: TestClient, pipeline: Pipeline) -> None:
    job = client.post("/v1/collections/notes/documents", files=[("files", ("a.txt", "Words."))]).json()
    with collection_lock(pipeline.store, pipeline.home, "notes"):
        assert Worker(pipeline).run_one()
        waiting = client.get(f"/v1/jobs/{job['id']}").json()
        assert (waiting["status"], waiting["attempts"]) == ("queued", 0)
        refused = client.delete("/v1/collections/notes")
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "collection_busy")
    assert client.delete("/v1/collections/notes").status_code == 204


def test_a_staging_folder_that_cannot_be_made(client: TestClient, pipeline: Pipeline) -> None:
    (pipeline.home / "staging").write_text("a file where a folder should be")
    response = client.post("/v1/collections/notes/documents", files=[("files", ("a.txt", "Words."))])
    assert (response.status_code, response.json()["error"]["code"]) == (503, "storage_unavailable")
    assert str(pipeline.home) not in response.text
    assert client.get("/v1/jobs").json()["data"] == []


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, "disk_full"), (errno.EIO, "storage_unavailable")])
def test_a_full_disk_has_a_name_of_its_own(number: int, code: str) -> None:
    found = client_error(OSError(number, "said the system", "/secret/place"), logging.getLogger("test"))
    assert isinstance(found, ApiError)
    assert (found.status, found.code) == (503, code)
    assert found.retry_after is not None
    assert "secret" not in found.message


def test_uploads_that_are_gone_are_said_to_be(client: TestClient, pipeline: Pipeline) -> None:
    job = client.post("/v1/collections/notes/documents", files=[("files", ("a.txt", "Words."))]).json()
    (pipeline.home / "staging" / job["id"] / "a.txt").unlink()
    (pipeline.home / "staging" / job["id"]).rmdir()
    assert Worker(pipeline).run_one()
    failed = client.get(f"/v1/jobs/{job['id']}").json()
    assert (failed["status"], failed["error"]) == ("failed", "the uploaded files are gone: upload them again")


def test_a_key_cannot_be_looked_up_in_a_database_that_is_gone(pipeline: Pipeline) -> None:
    secret = KeyStore(pipeline.store).create("alice", ["query"]).secret
    with TestClient(create_app(pipeline, require_key=True)) as client:
        pipeline.store.close()
        response = client.get("/v1/collections", headers={"Authorization": f"Bearer {secret}"})
        assert (response.status_code, response.json()["error"]["code"]) == (503, "database_unavailable")
        assert "retry-after" in response.headers
