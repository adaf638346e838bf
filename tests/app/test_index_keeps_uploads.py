"""Indexing a folder lists removed documents, and keeps uploaded ones unless --replace is given."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

from app.commands.index import _names
from app.jobs.worker import Worker
from app.pipeline import Pipeline
from app.retrieval.uploads import UploadedSources, mark_uploaded, uploaded_ids
from app.service.application import create_app
from data.documents import Document
from data.refused import Refused
from retrieval.errors import RetrievalError
from retrieval.indexing.report import IndexReport
from tests.app.collection_calls import upload

Typed = Callable[..., SimpleNamespace]
ONE, TWO, THREE = (Document(f"{name}.txt", name, f"{name} is a number.") for name in ("one", "two", "three"))


def index(pipeline: Pipeline, *found: Document | Refused, replace: bool = False) -> tuple[IndexReport, tuple[str, ...]]:
    """Index as ``plumbline index`` does."""
    uploads = UploadedSources(pipeline.store, "notes")

    def source() -> Iterator[Document | Refused]:
        yield from found

    report = pipeline.index("notes", source() if replace else uploads.completed(source()))
    uploads.mark_sourced()
    return report, uploads.kept


@pytest.fixture
def filled(pipeline: Pipeline) -> Pipeline:
    """The collection "notes" with an uploaded "two.txt"."""
    index(pipeline, ONE, TWO)
    mark_uploaded(pipeline.store, "notes", [TWO.id])
    return pipeline


def held(pipeline: Pipeline) -> list[str]:
    with pipeline.store.read() as connection:
        return sorted(connection.exec_driver_sql(
            "SELECT document_id FROM documents JOIN generation_documents ON document_row = documents.id"
        ).scalars())  # fmt: skip


def test_what_is_removed_is_named_and_what_was_uploaded_stays(filled: Pipeline) -> None:
    report, kept = index(filled, THREE, Refused("x", "bad"))
    assert (report.removed_ids, report.removed, kept) == (("one.txt",), 1, ("two.txt",))
    assert held(filled) == ["three.txt", "two.txt"]
    assert uploaded_ids(filled.store, "notes") == ("two.txt",)


def test_replace_removes_uploads_too(filled: Pipeline) -> None:
    report, _ = index(filled, ONE, replace=True)
    assert report.removed_ids == ("two.txt",)
    assert held(filled) == ["one.txt"]


def test_an_uploaded_document_that_a_source_has_is_the_sources_from_then_on(filled: Pipeline) -> None:
    index(filled, ONE, TWO)
    assert uploaded_ids(filled.store, "notes") == ()
    assert index(filled, ONE)[0].removed_ids == ("two.txt",)


def test_a_source_without_a_document_changes_nothing(filled: Pipeline) -> None:
    with pytest.raises(RetrievalError, match="nothing to index"):
        index(filled, Refused("x", "bad"))
    assert held(filled) == ["one.txt", "two.txt"]


def test_names_are_printed_on_one_line_and_not_without_end() -> None:
    assert _names(("a\nb", "c")) == "a\\nb, c"
    assert _names(tuple(f"n{n}" for n in range(30))).endswith("and 10 more (--json lists all)")


def test_an_upload_is_known_as_one(pipeline: Pipeline) -> None:
    with TestClient(create_app(pipeline)) as client:
        assert upload(client, "notes", {"tea.txt": "Tea."}).status_code == 202
    assert Worker(pipeline).run_one()
    assert uploaded_ids(pipeline.store, "notes") == ("tea.txt",)


@pytest.mark.drill
def test_the_command_line(filled: Pipeline, typed: Typed, tmp_path: Path, home_copy: Path) -> None:
    (tmp_path / "three.txt").write_text("Three.")
    output = typed("index", tmp_path / "three.txt", "--collection", "notes", "--home", home_copy)
    assert "removed one.txt" in output.out
    assert "kept two.txt" in output.out
    facts = json.loads(
        typed("index", tmp_path / "three.txt", "--collection", "notes", "--home", home_copy, "--replace", "--json").out
    )
    assert (facts["removed_ids"], facts["kept_uploads"]) == (["two.txt"], [])
