"""Evaluations over HTTP: start, follow, read. A real worker runs the jobs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.accounts.keys import KeyStore
from app.jobs.leases import JobLeases
from app.jobs.worker import Worker
from app.pipeline import Pipeline
from app.service.application import create_app

QUESTIONS = [
    {"id": "q1", "text": "How long is the warranty of the Heron 4?", "references": ["three years"]},
    {"id": "q2", "text": "When does the office open?", "references": ["nine"]},
]
BODY = {"questions": QUESTIONS, "collection": "notes", "arms": ["rag", "closed_book"], "samples": 2, "name": "try"}


@pytest.fixture
def generator(first_words: Any) -> Any:
    return first_words()


@pytest.fixture
def pipeline(make_pipeline: Any, make_settings: Any, home_copy: Path, generator: Any) -> Pipeline:
    found = make_pipeline(make_settings(home_copy), generator)
    assert isinstance(found, Pipeline)
    return found


def started(client: TestClient, body: dict[str, Any], **headers: str) -> dict[str, Any]:
    response = client.post("/v1/evaluations", json=body, headers=headers)
    assert response.status_code == 202, response.text[:500]
    assert response.headers["location"] == f"/v1/jobs/{response.json()['id']}"
    return dict(response.json())


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 240
    while not true():
        assert time.monotonic() < deadline


def test_an_evaluation_is_started_followed_and_read(client: TestClient, pipeline: Pipeline) -> None:
    job = started(client, BODY)
    assert (job["status"], job["run_id"]) == ("queued", None)
    assert Worker(pipeline).run_one()
    job = client.get(f"/v1/jobs/{job['id']}").json()
    assert job["status"] == "succeeded", job
    assert job["progress"] == [{"step": "samples", "done": 8, "total": 8}]
    run = client.get(f"/v1/evaluations/{job['run_id']}").json()
    assert (run["status"], run["samples"], run["name"], run["arms"]) == ("finished", 8, "try", ["rag", "closed_book"])
    rates = {arm["arm"]: arm["hallucinated"]["default"] for arm in run["summary"]["arms"]}
    assert set(rates) == {"rag", "closed_book"}
    assert all(rate["lower"] <= rate["rate"] <= rate["upper"] for rate in rates.values())
    answers = client.get(f"/v1/evaluations/{run['id']}/answers", params={"arm": "rag", "limit": 3}).json()
    assert (answers["total"], len(answers["data"])) == (4, 3)
    assert answers["data"][0]["text"] == "The warranty of [1]"
    report = client.get(f"/v1/evaluations/{run['id']}/report")
    assert report.headers["content-type"].startswith("text/html")
    assert "How long is the warranty" in report.text
    figures = client.get(f"/v1/evaluations/{run['id']}/report", params={"format": "json"})
    assert figures.headers["content-type"] == "application/json"
    other = started(client, {**BODY, "seed": 1})
    assert Worker(pipeline).run_one()
    other_run = client.get(f"/v1/jobs/{other['id']}").json()["run_id"]
    compared = client.get(f"/v1/evaluations/{run['id']}/against/{other_run}", params={"format": "json"})
    assert compared.status_code == 200, compared.text[:500]
    assert [r["id"] for r in client.get("/v1/evaluations").json()["data"]] == [other_run, run["id"]]


def test_a_job_that_was_asked_to_end_ends_at_its_next_step(
    client: TestClient, pipeline: Pipeline, generator: Any
) -> None:
    job = started(client, BODY)
    generator.released.clear()
    worker = Worker(pipeline, beat_s=0.005)
    thread = threading.Thread(target=worker.run_one)
    thread.start()
    assert generator.started.wait(240)
    reply = client.post(f"/v1/jobs/{job['id']}/cancel").json()
    assert (reply["status"], reply["cancelling"]) == ("running", True)

    def beat() -> str:
        return str(client.get(f"/v1/jobs/{job['id']}").json()["heartbeat_at"])

    first = beat()
    until(lambda: beat() != first)  # begun before it was asked, or not
    second = beat()
    until(lambda: beat() != second)  # begun after it was asked: the work knows
    generator.released.set()
    thread.join()
    ended = client.get(f"/v1/jobs/{job['id']}").json()
    assert (ended["status"], ended["cancelling"]) == ("cancelled", False)
    run = client.get(f"/v1/evaluations/{ended['run_id']}").json()
    assert run["status"] == "interrupted"
    assert 0 <= run["samples"] < 8
    # Tried again, it goes on with the samples that it had.
    assert client.post(f"/v1/jobs/{job['id']}/retry").status_code == 202
    assert Worker(pipeline).run_one()
    done = client.get(f"/v1/jobs/{job['id']}").json()
    assert (done["status"], done["run_id"]) == ("succeeded", ended["run_id"])
    assert done["result"]["drawn"] == 8 - run["samples"]


def test_a_worker_that_is_stopped_hands_its_job_back(client: TestClient, pipeline: Pipeline, generator: Any) -> None:
    job = started(client, BODY)
    generator.released.clear()
    worker = Worker(pipeline)
    thread = threading.Thread(target=worker.run)
    thread.start()
    assert generator.started.wait(240)
    worker.stopping.set()
    generator.released.set()
    thread.join()
    waiting = client.get(f"/v1/jobs/{job['id']}").json()
    assert (waiting["status"], waiting["attempts"]) == ("queued", 0)
    assert Worker(pipeline).run_one()
    assert client.get(f"/v1/jobs/{job['id']}").json()["status"] == "succeeded"


def test_a_worker_that_lost_its_lease_changes_nothing(client: TestClient, pipeline: Pipeline, generator: Any) -> None:
    job = started(client, BODY)
    generator.released.clear()
    slow = Worker(pipeline, leases=JobLeases(pipeline.store, "slow", lease_s=0.0), beat_s=3600)
    thread = threading.Thread(target=slow.run_one)
    thread.start()
    assert generator.started.wait(240)
    taken = JobLeases(pipeline.store, "next").take()
    assert taken is not None
    assert (taken.id, taken.attempts) == (job["id"], 2)
    generator.released.set()
    thread.join()
    assert client.get(f"/v1/jobs/{job['id']}").json()["status"] == "running"  # it is the next one's


@pytest.mark.parametrize(
    ("fields", "status", "says"),
    [
        ({"questions": []}, 422, "question"),
        ({"questions": [QUESTIONS[0], QUESTIONS[0]]}, 422, "id"),
        ({"questions": [{"id": " ", "text": "x"}]}, 422, "questions.0"),
        ({"questions": "all"}, 422, "samples"),
        ({"arms": ["rga"]}, 422, "rga"),
        ({"arms": []}, 422, "1"),
        ({"samples": 33}, 422, "32"),
        ({"samples": 0}, 422, "samples 0"),
        ({"temperature": -1}, 422, "temperature"),
        ({"collection": "nothing"}, 404, "collection_not_found"),
        ({"trusted": "nothing"}, 404, "collection_not_found"),
        ({"threshold": 0}, 422, "threshold"),
        ({"limits": 3}, 422, "limits"),
    ],
)
def test_a_bad_evaluation_is_refused(client: TestClient, fields: dict[str, Any], status: int, says: str) -> None:
    response = client.post("/v1/evaluations", json={**BODY, **fields})
    assert response.status_code == status, response.text[:500]
    assert all(word in str(response.json()["error"]) for word in says.split())
    assert client.get("/v1/jobs").json()["data"] == []


def test_runs_that_are_not_there(client: TestClient) -> None:
    for path in ("", "/answers", "/report", "/against/" + "0" * 16):
        for run in ("0" * 16, "x", "%00"):
            response = client.get(f"/v1/evaluations/{run}{path}")
            assert (response.status_code, response.json()["error"]["code"]) == (404, "evaluation_not_found")


def test_equal_runs_of_two_tenants_are_two(pipeline: Pipeline) -> None:
    keys = KeyStore(pipeline.store)
    with TestClient(create_app(pipeline, require_key=True)) as client:
        runs = []
        for tenant in ("acme", "globex"):
            secret = keys.create(tenant, ["evaluate"], tenant=tenant).secret
            headers = {"Authorization": f"Bearer {secret}"}
            body = {"questions": QUESTIONS, "arms": ["closed_book"], "samples": 1}
            job = started(client, body, **headers)
            assert Worker(pipeline).run_one()
            run = client.get(f"/v1/jobs/{job['id']}", headers=headers).json()["run_id"]
            assert [r["id"] for r in client.get("/v1/evaluations", headers=headers).json()["data"]] == [run]
            # A tenant without a collection never gets the only one that there is.
            searching = client.post("/v1/evaluations", json={**body, "arms": ["rag"]}, headers=headers)
            assert (searching.status_code, "name a collection" in searching.text) == (422, True)
            runs.append(run)
        assert runs[0] != runs[1]
        for path in ("", "/answers", "/report", f"/against/{runs[1]}"):
            assert client.get(f"/v1/evaluations/{runs[0]}{path}", headers=headers).status_code == 404


def test_claims_are_judged_by_their_own_evidence(client: TestClient) -> None:
    claims = [
        {"id": "a", "claim": "The office opens at nine.", "evidence": ["The office in Lisbon opens at nine."]},
        {"id": "b", "claim": "The office opens at nine.", "evidence": []},
        {"claim": "...", "evidence": ["x"]},
    ]
    found = client.post("/v1/verify", json={"claims": claims}).json()["data"]
    assert [(one["id"], one["label"]) for one in found][1:] == [("b", "unscored"), ("", "unscored")]
    assert found[0]["support"] > 0.5
    assert found[0]["best"][0]["text"] == "The office in Lisbon opens at nine."
    assert found[1]["reason"] == "there is no evidence"
    for bad in ({"claims": []}, {"claims": [{"claim": "x"}]}, {"claims": claims * 100}, {}):
        assert client.post("/v1/verify", json=bad).status_code == 422
