"""Collections and jobs over HTTP: made, filled, looked into, deleted; the jobs done by a real worker in between."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import Request
from fastapi.testclient import TestClient

from app.jobs.worker import Worker
from app.keys import KeyLimits, KeyStore
from app.pipeline import Pipeline
from app.service.application import create_app
from app.service.collections_upload import read_form
from app.service.errors import ApiError

BREAD = "The bread of the house is baked at four in the morning. It rests for a day."
TEA = "Tea is served at five. The pot holds six cups."


@pytest.fixture
def pipeline(make_pipeline: Any, make_settings: Any, home_copy: Path, first_words: Any) -> Pipeline:
    found = make_pipeline(make_settings(home_copy), first_words())
    assert isinstance(found, Pipeline)
    return found


@pytest.fixture
def client(pipeline: Pipeline) -> Iterator[TestClient]:
    with TestClient(create_app(pipeline)) as opened:
        yield opened


def error_code(response: Any, status: int) -> str:
    assert response.status_code == status, response.text[:500]
    assert set(response.json()["error"]) == {"message", "type", "param", "code"}
    return str(response.json()["error"]["code"])


def upload(client: TestClient, name: str, files: dict[str, bytes | str], **headers: str) -> Any:
    parts = [("files", (file, content)) for file, content in files.items()]
    return client.post(f"/v1/collections/{name}/documents", files=parts, headers=headers)


def done(client: TestClient, pipeline: Pipeline, response: Any) -> dict[str, Any]:
    """The job of a 202, after a worker has done what waits."""
    assert response.status_code == 202, response.text[:500]
    assert response.headers["location"] == f"/v1/jobs/{response.json()['id']}"
    worker = Worker(pipeline)
    while worker.run_one():
        pass
    return dict(client.get(response.headers["location"]).json())


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


def test_an_upload_of_which_nothing_is_read_fails_with_the_reasons(client: TestClient, pipeline: Pipeline) -> None:
    client.post("/v1/collections", json={"name": "house"})
    job = done(client, pipeline, upload(client, "house", {"x.exe": "MZ", "empty.txt": "", "bad.pdf": "no pdf"}))
    assert job["status"] == "failed"
    assert {r["where"] for r in job["result"]["refused"]} == {"x.exe", "empty.txt", "bad.pdf"}
    assert str(pipeline.home) not in str(job)
    again = client.post(f"/v1/jobs/{job['id']}/retry")  # its files are still there
    assert done_status(client, pipeline, again) == ("failed", 1)


def done_status(client: TestClient, pipeline: Pipeline, response: Any) -> tuple[str, int]:
    assert response.status_code == 202, response.text
    while Worker(pipeline).run_one():
        pass
    job = client.get(f"/v1/jobs/{response.json()['id']}").json()
    return job["status"], job["attempts"]


@pytest.mark.parametrize(
    "name",
    ["../x.txt", "/etc/x.txt", "a/../../x.txt", "a//x.txt", "..\\x.txt", "C:x.txt", ".hidden.txt", "a/.b/x.txt",
     "x\u202etxt.exe", "./x.txt", "a/", " x.txt", "y" * 201],
)  # fmt: skip
def test_a_name_that_leaves_its_folder_is_refused(client: TestClient, pipeline: Pipeline, name: str) -> None:
    assert error_code(upload(client, "notes", {"good.txt": TEA, name: TEA}), 422) == "invalid_value"
    assert client.get("/v1/jobs").json()["data"] == []
    staging = pipeline.home / "staging"
    assert not staging.exists() or list(staging.iterdir()) == []


def test_bodies_that_are_no_upload(client: TestClient) -> None:
    path = "/v1/collections/notes/documents"
    assert error_code(client.post(path, json={}), 415) == "unsupported_media_type"
    assert error_code(client.post(path, content=b"x", headers={"content-type": "multipart/form-data"}), 400)
    kind = {"content-type": "multipart/form-data; boundary=b"}
    assert error_code(client.post(path, content=b"--c\r\n", headers=kind), 400)
    assert error_code(client.post(path, content=b"--b--\r\n", headers=kind), 422) == "invalid_value"
    assert error_code(client.post(path, data={"files": "words"}, files={"other": ("x.txt", b"x")}), 422)
    assert error_code(upload(client, "notes", {"a.txt": "x", "a.txt/b.txt": "y"}), 422) == "invalid_value"
    twice = [("files", ("a.txt", b"x")), ("files", ("a.txt", b"y"))]
    assert error_code(client.post(path, files=twice), 422) == "invalid_value"
    assert error_code(upload(client, "nothing", {"a.txt": "x"}), 404) == "collection_not_found"


def test_a_body_that_is_too_large_is_refused_before_it_is_read(
    make_pipeline: Any, make_settings: Any, home_copy: Path, first_words: Any
) -> None:
    pipeline = make_pipeline(make_settings(home_copy, max_upload_mb=1), first_words())
    with TestClient(create_app(pipeline)) as client:
        assert error_code(upload(client, "notes", {"a.txt": b"x" * 1_100_000}), 413) == "body_too_large"


def test_a_body_without_a_length_is_counted_as_it_comes_and_given_up_when_nothing_does() -> None:
    head = b'--b\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
    pieces = iter([head, *[b"x" * 1000] * 9])
    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", b"multipart/form-data; boundary=b")]}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": next(pieces), "more_body": True}

    async def never() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(ApiError, match="larger than 5000 bytes"):
        asyncio.run(read_form(Request(scope, receive), 5000))
    assert len(list(pieces)) == 4  # the rest was never asked for
    with pytest.raises(ApiError, match="nothing of the body arrived"):
        asyncio.run(read_form(Request(scope, never), 5000, timeout_s=0.01))


def test_a_double_submit_is_one_job(client: TestClient, pipeline: Pipeline) -> None:
    key = {"Idempotency-Key": "one"}
    first = upload(client, "notes", {"tea.txt": TEA}, **key)
    second = upload(client, "notes", {"tea.txt": TEA}, **key)
    assert (first.status_code, second.json()["id"]) == (202, first.json()["id"])
    assert error_code(upload(client, "notes", {"tea.txt": BREAD}, **key), 422) == "idempotency_key_reused"
    assert [path.name for path in (pipeline.home / "staging").iterdir()] == [first.json()["id"]]
    assert done(client, pipeline, second)["result"]["added"] == 1
    assert upload(client, "notes", {"tea.txt": TEA}, **key).json()["status"] == "succeeded"
    # Without a key it is done twice, and the second finds nothing to do.
    assert done(client, pipeline, upload(client, "notes", {"tea.txt": TEA}))["result"]["rebuilt"] is False
    assert list((pipeline.home / "staging").iterdir()) == []


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


def test_pages_of_other_sites_can_change_nothing(client: TestClient) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://[bad"}):
        assert error_code(upload(client, "notes", {"tea.txt": TEA}, **headers), 403) == "foreign_origin"
        assert error_code(client.delete("/v1/collections/notes", headers=headers), 403) == "foreign_origin"
    assert upload(client, "notes", {"tea.txt": TEA}, Origin="http://testserver").status_code == 202


@pytest.mark.parametrize("name", ["", ".x", "a/b", "é", "x" * 65, 7, None])
def test_a_bad_name_of_a_collection(client: TestClient, name: object) -> None:
    assert error_code(client.post("/v1/collections", json={"name": name}), 422) == "invalid_value"


def test_a_name_that_is_taken(client: TestClient) -> None:
    assert error_code(client.post("/v1/collections", json={"name": "notes"}), 409) == "collection_exists"


def test_another_tenants_things_are_as_if_they_were_not_there(pipeline: Pipeline) -> None:
    keys = KeyStore(pipeline.store)
    scopes = ["query", "index", "evaluate"]
    headers = {
        tenant: {"Authorization": f"Bearer {keys.create(tenant or 'own', scopes, tenant=tenant).secret}"}
        for tenant in ("acme", "globex", "")
    }
    with TestClient(create_app(pipeline, require_key=True)) as client:
        acme, globex = headers["acme"], headers["globex"]
        assert client.post("/v1/collections", json={"name": "house"}, headers=acme).status_code == 201
        submitted = upload(client, "house", {"tea.txt": TEA}, **acme)
        while Worker(pipeline).run_one():
            pass
        job = submitted.json()["id"]
        assert client.get(f"/v1/jobs/{job}", headers=acme).json()["status"] == "succeeded"

        def both(method: str, path: str, absent: str, **arguments: Any) -> None:
            """The same request for what is another's and for what never was: the same answer, to the letter."""
            one = client.request(method, path, headers=globex, **arguments)
            other = client.request(method, absent, headers=globex, **arguments)
            assert one.status_code == other.status_code == 404, (path, one.text)
            assert one.json() == other.json()

        for method, tail in (("GET", ""), ("DELETE", ""), ("GET", "/documents"), ("GET", "/generations"),
                             ("GET", "/documents/tea.txt"), ("DELETE", "/documents/tea.txt")):  # fmt: skip
            both(method, f"/v1/collections/house{tail}", f"/v1/collections/never{tail}")
        both("GET", f"/v1/jobs/{job}", "/v1/jobs/" + "0" * 32)
        both("POST", f"/v1/jobs/{job}/cancel", "/v1/jobs/" + "0" * 32 + "/cancel")
        for path, body in (("/v1/query", {"question": "Tea?"}), ("/v1/retrieve", {"query": "Tea?"})):
            replies = [client.post(path, json={**body, "collection": c}, headers=globex) for c in ("house", "never")]
            assert [r.status_code for r in replies] == [404, 404]
            assert replies[0].text.replace("house", "never") == replies[1].text
        for path in ("/v1/collections", "/v1/jobs", "/v1/evaluations"):
            assert client.get(path, headers=globex).json()["data"] == []
        assert [c["name"] for c in client.get("/v1/collections", headers=acme).json()["data"]] == ["house"]
        assert [c["name"] for c in client.get("/v1/collections", headers=headers[""]).json()["data"]] == ["notes"]
        # A name that another tenant uses is free.
        assert client.post("/v1/collections", json={"name": "house"}, headers=globex).status_code == 201
        found = client.post("/v1/retrieve", json={"query": "tea"}, headers=acme).json()
        assert (found["collection"], found["data"][0]["document_id"]) == ("house", "tea.txt")


def test_keys_scopes_and_rates(pipeline: Pipeline) -> None:
    keys = KeyStore(pipeline.store)
    asks = keys.create("asks", ["query"])
    few = keys.create("few", ["query", "index"], limits=KeyLimits(requests_per_minute=2, upload_bytes=1000))
    gone = keys.create("gone", ["admin"])
    keys.revoke("gone")
    with TestClient(create_app(pipeline, require_key=True)) as client:

        def get(path: str, secret: str | None) -> Any:
            headers = {"Authorization": f"Bearer {secret}"} if secret is not None else {}
            return client.get(path, headers=headers)

        for secret in (None, "sk-123", gone.secret, asks.secret + "x"):
            refused = get("/v1/collections", secret)
            assert error_code(refused, 401) in ("missing_api_key", "invalid_api_key")
            assert refused.headers["www-authenticate"].startswith("Bearer")
        assert get("/v1/collections", asks.secret).status_code == 200
        assert error_code(get("/v1/jobs", asks.secret), 403) == "insufficient_scope"
        assert client.get("/livez").status_code == 200
        large = upload(client, "notes", {"a.txt": "x" * 2000}, Authorization=f"Bearer {few.secret}")
        assert error_code(large, 413) == "body_too_large"
        assert get("/v1/collections/notes", few.secret).status_code == 200
        slow = get("/v1/collections/notes", few.secret)
        assert error_code(slow, 429) == "rate_limit_exceeded"
        assert 1 <= int(slow.headers["retry-after"]) <= 60
    with TestClient(create_app(pipeline)) as client:  # on loopback: no key is needed, but a wrong one of ours is wrong
        assert get("/v1/collections", None).status_code == 200
        assert get("/v1/collections", "sk-anything").status_code == 200
        assert error_code(get("/v1/collections", gone.secret), 401) == "invalid_api_key"
