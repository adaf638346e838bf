"""Helpers that call /v1/collections and run the waiting jobs with a worker."""

from __future__ import annotations

from typing import Any

from fastapi.testclient import TestClient

from app.jobs.worker import Worker
from app.pipeline import Pipeline

BREAD = "The bread of the house is baked at four in the morning. It rests for a day."
TEA = "Tea is served at five. The pot holds six cups."


def error_code(response: Any, status: int) -> str:
    assert response.status_code == status, response.text[:500]
    assert set(response.json()["error"]) == {"message", "type", "param", "code"}
    return str(response.json()["error"]["code"])


def upload(client: TestClient, name: str, files: dict[str, bytes | str], **headers: str) -> Any:
    parts = [("files", (file, content)) for file, content in files.items()]
    return client.post(f"/v1/collections/{name}/documents", files=parts, headers=headers)


def done(client: TestClient, pipeline: Pipeline, response: Any) -> dict[str, Any]:
    """Return the job of a 202 response after a worker has run all waiting jobs."""
    assert response.status_code == 202, response.text[:500]
    assert response.headers["location"] == f"/v1/jobs/{response.json()['id']}"
    worker = Worker(pipeline)
    while worker.run_one():
        pass
    return dict(client.get(response.headers["location"]).json())


def done_status(client: TestClient, pipeline: Pipeline, response: Any) -> tuple[str, int]:
    assert response.status_code == 202, response.text
    while Worker(pipeline).run_one():
        pass
    job = client.get(f"/v1/jobs/{response.json()['id']}").json()
    return job["status"], job["attempts"]
