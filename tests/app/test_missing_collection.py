"""A missing collection is reported before any model is loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.answers import QueryRequest
from app.cli import main
from app.pipeline import Pipeline
from app.settings import Settings
from retrieval.errors import RetrievalError


@pytest.fixture
def loads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test if an encoder, a generator or a scorer is opened."""

    def opened(*_: object, **__: object) -> None:
        pytest.fail("a model was opened for a collection that is not there")

    for name in ("app.pipeline.open_encoder", "app.pipeline.open_generator", "app.judging.answer_judge.load_scorer"):
        monkeypatch.setattr(name, opened)


@pytest.mark.usefixtures("loads_nothing")
@pytest.mark.parametrize(
    "command",
    [
        ["query", "How deep is the quay?", "--collection", "harbour"],
        ["retrieve", "How deep is the quay?", "--collection", "harbour"],
        ["tune", "harbour", "--queries", "QUESTIONS"],
        ["evaluate", "QUESTIONS", "--collection", "harbour", "--n", "1"],
        ["evaluate", "QUESTIONS", "--collection", "notes", "--trusted", "harbour", "--arms", "closed_book"],
        ["evaluate", "QUESTIONS", "--collection", "harbour", "--n", "1", "--dry-run"],
        ["evaluate", "QUESTIONS", "--collection", "harbour", "--n", "1", "--forced-drift"],
    ],
)
def test_a_command_names_the_collection_it_lacks(
    command: list[str], home_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"id": "1", "text": "How deep is the quay?", "relevant_document_ids": ["office"]}\n')
    given = [str(questions) if word == "QUESTIONS" else word for word in command]
    assert main([*given, "--home", str(home_copy)]) == 1
    error = capsys.readouterr().err
    assert "'harbour'" in error
    assert "notes" in error


@pytest.mark.usefixtures("loads_nothing")
def test_an_unpublished_collection_is_refused_before_a_model_is_loaded(
    home_copy: Path, make_settings: Callable[..., Settings]
) -> None:
    from sqlalchemy import update

    from data.schema import collections

    with Pipeline(make_settings(home_copy)) as pipeline:
        with pipeline.store.write() as connection:
            connection.execute(update(collections).values(current_generation_id=None))
        with pytest.raises(RetrievalError, match="'notes'"):
            pipeline.answer(QueryRequest("How deep is the quay?", "notes"))
