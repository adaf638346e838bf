"""Collections and jobs over HTTP: create, fill, inspect, delete. A real worker runs the jobs."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from app.jobs.worker import Worker
from app.pipeline import Pipeline
from tests.app.collection_calls import BREAD, TEA, done, done_status, error_code, upload


def test_documents_are_uploaded_indexed_found_replaced_and_removed(client: TestClient, pipeline: Pipeline) -> None:
    made = client.post("/v1/collections", json={"name": "house"})
    assert made.status_code == 201, made.text
    assert made.headers["location"] == "/v1/collections/house"
    assert made.json()["generation"] is None
    assert error_code(client.post("/v1/retrieve", json={"query": "tea", "collection": "house"}), 503)
    job = done(client, pipeline, upload(client, "house", {"bread.txt": BREAD, "guide/tea.md": TEA, "x.exe": "MZ"}))
    assert (job["status"], job["collection"], job["error"]) == ("succeeded", "house", None)
    assert {(r["where"], "not read" in r["reason"]) for r in job["result"]["refused"]} == {("x.exe", True)}
    assert {step["step"] for step in job["progress"]} >= {"documents", "vectors", "publishing"}
    assert all(step["done"] == step["total"] for step in job["progress"])
    listed = client.get("/v1/collections/house/documents").json()
    assert [(d["id"], listed["total"]) for d in listed["data"]] == [("bread.txt", 2), ("guide/tea.md", 2)]
    assert client.get("/v1/collections/house/documents/guide/tea.md").json()["text"] == TEA
    found = client.post("/v1/retrieve", json={"query": "When is tea served?", "collection": "house", "k": 1}).json()
    assert (found["collection"], found["data"][0]["document_id"]) == ("house", "guide/tea.md")
    answer = client.post("/v1/query", json={"question": "When is tea served?", "collection": "house"})
    assert answer.status_code == 200, answer.text[:500]
    assert answer.json()["sources"][0]["document_id"] == "guide/tea.md"

    job = done(client, pipeline, upload(client, "house", {"bread.txt": "Bread is bought now, at the corner."}))
    assert (job["result"]["changed"], job["result"]["unchanged"], job["result"]["removed"]) == (1, 1, 0)
    job = done(client, pipeline, client.delete("/v1/collections/house/documents/guide/tea.md"))
    assert (job["status"], job["result"]["removed"]) == ("succeeded", 1)
    assert [d["id"] for d in client.get("/v1/collections/house/documents").json()["data"]] == ["bread.txt"]
    assert error_code(client.delete("/v1/collections/house/documents/guide/tea.md"), 404) == "document_not_found"
    job = done(client, pipeline, client.delete("/v1/collections/house/documents/bread.txt"))
    assert (job["status"], "delete the collection instead" in job["error"]) == ("failed", True)

    shown = client.get("/v1/collections/house").json()
    assert (shown["documents"], shown["job"]["id"]) == (1, job["id"])
    generations = client.get("/v1/collections/house/generations").json()["data"]
    assert [g["status"] for g in generations] == ["published", "retired", "retired"]
    assert generations[0]["hash"] == shown["generation"]
    assert client.delete("/v1/collections/house").status_code == 204
    assert error_code(client.get("/v1/collections/house"), 404) == "collection_not_found"
    assert not (pipeline.home / "collections" / "house").exists()


def test_documents_that_were_indexed_otherwise_stay(client: TestClient, pipeline: Pipeline) -> None:
    job = done(client, pipeline, upload(client, "notes", {"tea.txt": TEA}))
    assert (job["result"]["added"], job["result"]["unchanged"]) == (1, 3)
    ids = [d["id"] for d in client.get("/v1/collections/notes/documents").json()["data"]]
    assert ids == ["markup", "office", "tea.txt", "warranty"]


def test_a_job_is_cancelled_before_it_begins_and_cannot_be_twice(client: TestClient, pipeline: Pipeline) -> None:
    job = upload(client, "notes", {"tea.txt": TEA}).json()
    assert client.post(f"/v1/jobs/{job['id']}/cancel").json()["status"] == "cancelled"
    assert not Worker(pipeline).run_one()
    assert done_status(client, pipeline, client.post(f"/v1/jobs/{job['id']}/retry")) == ("succeeded", 1)
    assert error_code(client.post(f"/v1/jobs/{job['id']}/cancel"), 409) == "job_state"
    assert error_code(client.post(f"/v1/jobs/{job['id']}/retry"), 409) == "job_state"
    assert error_code(client.get("/v1/jobs/" + "0" * 32), 404) == "job_not_found"
    assert error_code(client.get("/v1/jobs/x%00y"), 404) == "job_not_found"


def test_jobs_are_filtered(client: TestClient, pipeline: Pipeline) -> None:
    client.post("/v1/collections", json={"name": "house"})
    done(client, pipeline, upload(client, "house", {"tea.txt": TEA}))
    waiting = upload(client, "notes", {"tea.txt": TEA}).json()

    def found(**query: str) -> list[str]:
        response = client.get("/v1/jobs", params=query)
        assert response.status_code == 200, response.text
        return [job["collection"] for job in response.json()["data"]]

    assert found() == ["notes", "house"]
    assert found(status="queued") == found(collection="notes") == ["notes"]
    assert found(kind="evaluation") == found(collection="nothing") == []
    assert found(limit="1", offset="1") == ["house"]
    assert error_code(client.get("/v1/jobs", params={"status": "odd"}), 422)
    assert client.post(f"/v1/jobs/{waiting['id']}/cancel").status_code == 202


@pytest.mark.parametrize("name", ["", ".x", "a/b", "é", "x" * 65, 7, None])
def test_a_bad_name_of_a_collection(client: TestClient, name: object) -> None:
    assert error_code(client.post("/v1/collections", json={"name": name}), 422) == "invalid_value"


def test_a_name_that_is_taken(client: TestClient) -> None:
    assert error_code(client.post("/v1/collections", json={"name": "notes"}), 409) == "collection_exists"
