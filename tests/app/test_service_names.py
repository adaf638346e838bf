"""Names in /readyz and /metrics: those of a tenant's own collections, and only numbers of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import insert, update

from app.accounts.keys import KeyStore
from app.accounts.tenants import create_tenant_collection
from app.pipeline import Pipeline
from app.service.application import create_app
from data.schema import collections


@pytest.fixture
def tenants(pipeline: Pipeline) -> dict[str, dict[str, str]]:
    """Headers of an admin of each tenant.

    acme has the published "notes", which it calls "wages-2026"; globex has nothing.
    """
    keys = KeyStore(pipeline.store)
    with pipeline.store.write() as connection:
        connection.execute(update(collections).values(tenant="acme", label="wages-2026"))
    create_tenant_collection(pipeline.store, "globex", "plans")
    return {
        tenant: {"Authorization": f"Bearer {keys.create(tenant or 'own', ['admin'], tenant=tenant).secret}"}
        for tenant in ("acme", "globex", "")
    }


def test_readyz_names_collections_to_their_tenant_only(pipeline: Pipeline, tenants: dict[str, Any]) -> None:
    bad = {"Authorization": "Bearer pl-0123456789abcdef-" + "A" * 43}
    with TestClient(create_app(pipeline, require_key=True)) as client:
        seen = {name: client.get("/readyz", headers=headers) for name, headers in tenants.items()}
        seen |= {"none": client.get("/readyz"), "bad": client.get("/readyz", headers=bad)}
    assert {reply.status_code for reply in seen.values()} == {200}
    assert seen["acme"].json()["collections"] == ["wages-2026"]
    for other in ("globex", "", "none", "bad"):
        assert seen[other].json()["collections"] == []
        assert seen[other].json()["collection_count"] == 1
        assert "wages" not in seen[other].text
        assert "notes" not in seen[other].text


def test_readyz_gives_reasons_with_names_and_files_to_their_tenant_only(
    pipeline: Pipeline, tenants: dict[str, Any], home_copy: Path
) -> None:
    (vectors,) = home_copy.rglob("vectors.faiss")
    vectors.write_bytes(vectors.read_bytes()[:-1] + b"?")
    with TestClient(create_app(pipeline, require_key=True)) as client:
        acme = client.get("/readyz", headers=tenants["acme"])
        others = [client.get("/readyz", headers=headers) for headers in (tenants["globex"], {})]
    assert acme.status_code == 503
    assert acme.json()["reasons"][0].startswith("collection wages-2026: ")
    for reply in others:
        assert reply.status_code == 503
        assert reply.json()["reasons"] == ["1 of 1 collections cannot be opened"]
        assert "notes" not in reply.text
        assert "faiss" not in reply.text


def test_a_missing_model_is_named_to_callers_with_a_key_only(
    make_settings: Any, home_copy: Path, tmp_path: Path, small_pipeline: Pipeline
) -> None:
    secret_place = tmp_path / "models-of-the-merger"
    pipeline = Pipeline(make_settings(home_copy, model=str(secret_place)))
    pipeline.__dict__["encoder"] = small_pipeline.encoder
    with pipeline:
        key = KeyStore(pipeline.store).create("asks", ["query"]).secret
        with TestClient(create_app(pipeline, require_key=True)) as client:
            assert client.get("/readyz").json()["reasons"] == ["model: not available"]
            known = client.get("/readyz", headers={"Authorization": f"Bearer {key}"})
            assert "no such folder" in known.json()["reasons"][0]


def test_metrics_name_indexes_of_the_readers_tenant_and_count_the_others(
    pipeline: Pipeline, tenants: dict[str, Any]
) -> None:
    with pipeline.store.write() as connection:
        connection.execute(insert(collections).values(name="never-published", tenant="acme"))
    with TestClient(create_app(pipeline, require_key=True)) as client:
        assert client.get("/metrics").status_code == 401
        acme = client.get("/metrics", headers=tenants["acme"]).text
        globex = client.get("/metrics", headers=tenants["globex"]).text
    assert 'plumbline_index_age_seconds{collection="wages-2026"}' in acme
    assert 'plumbline_indexes{tenant="own"} 1.0' in acme
    assert 'plumbline_indexes{tenant="others"} 1.0' in globex
    for hidden in ("wages", "notes", "acme", "collection="):
        assert hidden not in globex


def test_cached_tokens_tell_no_tenant_what_another_asked(
    make_pipeline: Any, make_settings: Any, home_copy: Path
) -> None:
    pipeline = make_pipeline(make_settings(home_copy))  # with a reader, whose prompts are kept
    keys = KeyStore(pipeline.store)
    headers = {
        tenant: {"Authorization": f"Bearer {keys.create(tenant, ['query'], tenant=tenant).secret}"}
        for tenant in ("acme", "globex")
    }
    body = {"question": "Is the merger with Initech on?", "retrieval": False, "max_tokens": 2}
    with TestClient(create_app(pipeline, require_key=True)) as client:
        replies = [client.post("/v1/query", json=body, headers=headers[t]) for t in ("acme", "globex", "acme")]
    cached = [reply.json()["usage"]["cached_tokens"] for reply in replies]
    assert cached[:2] == [0, 0]
    assert cached[2] > 0
