"""Access control: tenants, keys, scopes, rates, and forms of other sites."""

from __future__ import annotations

from typing import Any

from fastapi.testclient import TestClient

from app.accounts.keys import KeyLimits, KeyStore
from app.jobs.worker import Worker
from app.pipeline import Pipeline
from app.service.application import create_app
from tests.app.collection_calls import TEA, error_code, upload


def test_pages_of_other_sites_can_change_nothing(client: TestClient) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://[bad"}):
        assert error_code(upload(client, "notes", {"tea.txt": TEA}, **headers), 403) == "foreign_origin"
        assert error_code(client.delete("/v1/collections/notes", headers=headers), 403) == "foreign_origin"
    assert upload(client, "notes", {"tea.txt": TEA}, Origin="http://testserver").status_code == 202


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
            """Check that the response for another tenant's object equals that for an object that never existed."""
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
