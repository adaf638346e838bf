"""A database that is deleted, moved or emptied while the server runs: not ready, and 503 for reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from app.accounts.keys import KeyStore
from app.pipeline import Pipeline
from app.service.application import create_app
from data.schema import metadata
from data.store import Store
from tests.app.collection_calls import upload


def delete(home: Path, _store: Store) -> None:
    for path in home.glob("plumbline.db*"):
        path.unlink()


def move(home: Path, _store: Store) -> None:
    (home / "plumbline.db").rename(home / "away.db")


def empty(_home: Path, store: Store) -> None:
    with store.write() as connection:
        connection.execute(text("PRAGMA foreign_keys=OFF"))
        for name in [table.name for table in reversed(metadata.sorted_tables)]:
            connection.execute(text(f"DROP TABLE IF EXISTS {name}"))


CALLS = [
    ("GET", "/v1/collections", None),
    ("POST", "/v1/collections", {"name": "new"}),
    ("DELETE", "/v1/collections/notes", None),
    ("GET", "/v1/collections/notes/documents", None),
    ("POST", "/v1/query", {"question": "How long is the warranty?"}),
    ("POST", "/v1/retrieve", {"query": "warranty"}),
    ("GET", "/v1/jobs", None),
    ("GET", "/v1/evaluations", None),
    ("POST", "/v1/evaluations", {"questions": "samples"}),
    ("GET", "/v1/models", None),
    ("GET", "/", None),
    ("GET", "/collections", None),
]


@pytest.fixture
def quiet(pipeline: Pipeline) -> Iterator[TestClient]:
    with TestClient(create_app(pipeline)) as client:
        assert client.post("/v1/query", json={"question": "How long is the warranty?"}).status_code == 200
        yield client


@pytest.mark.parametrize("harm", [delete, move, empty])
def test_everything_is_503(
    quiet: TestClient, pipeline: Pipeline, home_copy: Path, harm: Callable[[Path, Store], None]
) -> None:
    harm(home_copy, pipeline.store)
    ready = quiet.get("/readyz")
    assert ready.status_code == 503
    assert ready.json()["reasons"][0].startswith("database: ")
    assert str(home_copy) not in ready.text
    for method, path, body in CALLS:
        reply = quiet.request(method, path, json=body)
        assert reply.status_code == 503, (path, reply.status_code, reply.text[:300])
        assert "internal_error" not in reply.text
        assert str(home_copy) not in reply.text
    assert upload(quiet, "notes", {"tea.txt": "Tea."}).status_code == 503
    assert quiet.get("/livez").status_code == 200
    assert not (home_copy / "plumbline.db").exists() or harm is empty  # none was made anew


def test_keys_cannot_be_looked_up_is_503(pipeline: Pipeline, home_copy: Path) -> None:
    key = KeyStore(pipeline.store).create("asks", ["query"]).secret
    with TestClient(create_app(pipeline, require_key=True)) as client:
        empty(home_copy, pipeline.store)
        reply = client.get("/v1/collections", headers={"Authorization": f"Bearer {key}"})
        assert reply.status_code == 503
        assert client.get("/v1/collections").status_code == 401


def test_an_operational_error_that_nobody_expected_is_503(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OperationalError("SELECT secret FROM things", {}, Exception("no such column: secret"))

    monkeypatch.setattr("app.service.api.routes.index_ages", fails)
    monkeypatch.setattr("app.service.api.collections_upload.stage", fails)
    with TestClient(create_app(pipeline)) as client:
        reply = client.get("/metrics")
        assert (reply.status_code, reply.json()["error"]["code"]) == (503, "database_unavailable")
        assert "secret" not in reply.text
