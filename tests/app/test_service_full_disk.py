"""The service when the database's disk is full: changes are refused with the reason, and none is partial."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi.testclient import TestClient

from app.jobs.worker import Worker
from app.pipeline import Pipeline
from tests.app.collection_calls import error_code, upload

LONG = "How long is the warranty of the Heron 4? " * 150
FILES: dict[str, bytes | str] = {f"{'long-name-' * 15}{number}.txt": "Words." for number in range(100)}


@contextmanager
def full_disk(pipeline: Pipeline, spare: int = 0) -> Iterator[None]:
    """Let SQLite fail as on a full disk when its file would grow.

    Free space in existing pages can still be used. spare: number of pages that can be added.
    """
    with pipeline.store.write() as connection:
        free = connection.exec_driver_sql("PRAGMA freelist_count").scalar_one()
        connection.exec_driver_sql("CREATE TABLE filler (content BLOB)")
        for _ in range(free):
            connection.exec_driver_sql("INSERT INTO filler VALUES (zeroblob(4000))")
    with pipeline.store.write() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages + spare}")
    try:
        yield
    finally:
        with pipeline.store.write() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count=1073741823")


def test_uploads_and_evaluations_are_refused_whole(client: TestClient, pipeline: Pipeline) -> None:
    questions = [{"id": str(number), "text": LONG, "references": ["three years"]} for number in range(20)]
    evaluation = {"questions": questions, "collection": "notes"}
    with full_disk(pipeline):
        refused = upload(client, "notes", FILES)
        assert error_code(refused, 503) == "disk_full"
        assert int(refused.headers["retry-after"]) >= 1
        assert str(pipeline.home) not in refused.text
        assert error_code(client.post("/v1/evaluations", json=evaluation), 503) == "disk_full"
        assert client.get("/v1/jobs").json()["data"] == []
        assert list((pipeline.home / "staging").iterdir()) == []
        page = client.post("/collections/notes/documents", files=[("files", item) for item in FILES.items()])
        assert (page.status_code, "disk is full" in page.text) == (503, True)
    assert upload(client, "notes", FILES).status_code == 202
    assert client.post("/v1/evaluations", json=evaluation).status_code == 202


def test_a_job_that_finds_the_disk_full_is_done_when_there_is_space(client: TestClient, pipeline: Pipeline) -> None:
    files: dict[str, bytes | str] = {f"{number}.txt": f"{number}. {LONG}" for number in range(20)}
    job = upload(client, "notes", files).json()["id"]
    with full_disk(pipeline, spare=4):  # enough to say that it failed
        assert Worker(pipeline).run_one()
        failed = client.get(f"/v1/jobs/{job}").json()
        assert (failed["status"], "no space left" in failed["error"]) == ("failed", True)
        assert str(pipeline.home) not in failed["error"]
        found = client.post("/v1/query", json={"question": "How long is the warranty?", "collection": "notes"})
        assert found.json()["sources"][0]["document_id"] == "warranty"
    assert client.post(f"/v1/jobs/{job}/retry").status_code == 202
    assert Worker(pipeline).run_one()
    assert client.get(f"/v1/jobs/{job}").json()["status"] == "succeeded"
