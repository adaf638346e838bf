"""Readiness and errors of the service when a part of it is missing or damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import insert

from app.pipeline import Pipeline
from app.service.application import create_app
from app.settings import Settings
from data.schema import collections

QUESTION = {"question": "How long is the warranty of the Heron 4?"}


def test_ready_when_all_is_open(small_pipeline: Pipeline) -> None:
    with TestClient(create_app(small_pipeline)) as client:
        assert client.get("/livez").json() == {"status": "live"}
        response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json() == {"status": "ready", "model": "plumbline-reader", "collections": ["notes"],
                               "collection_count": 1}  # fmt: skip


def test_ready_with_no_collection_and_a_query_says_that_there_is_none(
    make_pipeline: Any, make_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    with TestClient(create_app(make_pipeline(make_settings(tmp_path / "new")))) as client:
        assert client.get("/readyz").json()["collections"] == []
        response = client.post("/v1/query", json=QUESTION)
        assert response.status_code == 404
        assert client.post("/v1/query", json={**QUESTION, "retrieval": False}).status_code == 200


def test_several_collections_must_be_named(
    make_pipeline: Any, make_settings: Callable[..., Settings], home_copy: Path
) -> None:
    pipeline = make_pipeline(make_settings(home_copy))
    with pipeline.store.write() as connection:
        connection.execute(insert(collections).values(name="half"))
    with TestClient(create_app(pipeline)) as client:
        response = client.post("/v1/query", json=QUESTION)
        assert response.status_code == 422
        assert response.json()["error"]["param"] == "collection"
        assert "half, notes" in response.json()["error"]["message"]
        never_indexed = client.post("/v1/query", json={**QUESTION, "collection": "half"})
        assert never_indexed.status_code == 503
        assert never_indexed.json()["error"]["code"] == "collection_not_ready"
        assert client.get("/readyz").status_code == 200  # nothing that is published is wrong


def test_a_missing_model_is_not_ready_until_it_is_there(
    make_settings: Callable[..., Settings],
    small_home: Path,
    reader_folder: Path,
    tmp_path: Path,
    small_pipeline: Pipeline,
) -> None:
    model = tmp_path / "reader"
    pipeline = Pipeline(make_settings(small_home, model=str(model)))
    pipeline.__dict__["encoder"] = small_pipeline.encoder
    with pipeline, TestClient(create_app(pipeline)) as client:
        assert client.get("/livez").status_code == 200
        response = client.get("/readyz")
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) >= 1
        assert response.json()["error"]["code"] == "not_ready"
        (reason,) = response.json()["reasons"]
        assert reason.startswith("model: ")
        assert "no such folder" in reason
        refused = client.post("/v1/query", json=QUESTION)
        assert refused.status_code == 503
        assert refused.headers["retry-after"]
        assert client.post("/v1/query", json={"question": ""}).status_code == 422  # what is wrong stays wrong
        model.symlink_to(reader_folder, target_is_directory=True)
        client.app.state.answering.health._recheck_s = 0  # type: ignore[attr-defined]
        assert client.get("/readyz").status_code == 200
        assert client.post("/v1/query", json=QUESTION).status_code == 200


def test_a_damaged_index_is_named_by_readyz_and_is_503(
    make_pipeline: Any, make_settings: Callable[..., Settings], home_copy: Path
) -> None:
    (vectors,) = home_copy.rglob("vectors.faiss")
    vectors.write_bytes(vectors.read_bytes()[:-1] + b"?")
    with TestClient(create_app(make_pipeline(make_settings(home_copy)))) as client:
        response = client.get("/readyz")
        assert response.status_code == 503
        (reason,) = response.json()["reasons"]
        assert reason.startswith("collection notes: ")
        assert "vectors.faiss" in reason
        assert str(home_copy) not in response.text
        refused = client.post("/v1/query", json=QUESTION)
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "collection_unavailable"
        assert str(home_copy) not in refused.text
        assert client.post("/v1/query", json={**QUESTION, "retrieval": False}).status_code == 200


def test_another_encoder_is_not_ready(
    make_pipeline: Any, make_settings: Callable[..., Settings], home_copy: Path
) -> None:
    class OtherEncoder:
        fingerprint = "f" * 64

    pipeline = make_pipeline(make_settings(home_copy))
    pipeline.__dict__["encoder"] = OtherEncoder()
    with TestClient(create_app(pipeline)) as client:
        response = client.get("/readyz")
    assert response.status_code == 503
    assert "another encoder" in response.json()["reasons"][0]


@pytest.mark.parametrize("content", [b"not a database at all, whatever its name says" * 100, None])
def test_a_database_that_is_none_is_not_ready(
    small_pipeline: Pipeline, make_settings: Callable[..., Settings], tmp_path: Path, content: bytes | None
) -> None:
    home = tmp_path / "home"
    if content is None:
        home.write_text("a file where the home should be")
    else:
        home.mkdir()
        (home / "plumbline.db").write_bytes(content)
    pipeline = Pipeline(make_settings(home))
    pipeline.__dict__.update(encoder=small_pipeline.encoder, generator=small_pipeline.generator)
    with pipeline, TestClient(create_app(pipeline)) as client:
        response = client.get("/readyz")
        assert response.status_code == 503
        assert response.json()["reasons"][0].startswith("database: ")
        assert client.post("/v1/query", json=QUESTION).status_code == 503
        assert client.get("/v1/collections").status_code == 503
        assert client.get("/").status_code == 503


def test_settings_are_opened_and_closed_by_the_lifespan(small_settings: Settings) -> None:
    with TestClient(create_app(small_settings)) as client:
        assert client.get("/readyz").status_code == 200
