"""Default arms: closed_book is omitted for a reader unless it is named, and the run states the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import plumbline
from app.jobs.evaluation_job import plan_of
from app.jobs.requests import EvaluationRequest
from app.models.generators import is_reader
from app.pipeline import Pipeline
from app.runs.default_arms import ARMS, CLOSED_BOOK_LEFT_OUT, chosen_arms, default_arms
from app.runs.evaluate import EvaluationPlan, arms_of, with_arms
from data.questions import Question

QUESTIONS = (Question("q1", "How long is the warranty?", ("three years",), ("warranty",)),)
REMOTE = "openai:http://localhost:1/v1#m"


@pytest.mark.parametrize("choice", ["", "reader"])
def test_the_embedded_reader_is_a_reader(choice: str) -> None:
    assert is_reader(choice)


def test_a_folder_is_a_reader_by_its_file(reader_folder: Path, tmp_path: Path) -> None:
    assert is_reader(str(reader_folder), tmp_path)
    assert not is_reader(str(tmp_path), tmp_path)
    assert not is_reader(f"transformers:{reader_folder}") and not is_reader(REMOTE)


def test_default_arms_are_the_models(make_settings: Any, make_pipeline: Any, tmp_path: Path) -> None:
    reader = make_pipeline(make_settings(tmp_path))
    assert default_arms(reader).names == ("rag", "oracle") and default_arms(reader).left_out == CLOSED_BOOK_LEFT_OUT
    assert chosen_arms(reader, ("closed_book",)) == chosen_arms(reader, ["closed_book"])
    assert chosen_arms(reader, ("closed_book",)).left_out == ""
    server = make_pipeline(make_settings(tmp_path, model=REMOTE))
    assert (default_arms(server).names, default_arms(server).left_out) == (ARMS, "")


def test_a_plan_without_arms_must_be_given_some_first(pipeline: Pipeline) -> None:
    plan = EvaluationPlan(QUESTIONS)
    with pytest.raises(ValueError, match="with_arms"):
        arms_of(plan)
    assert arms_of(with_arms(pipeline, plan)) == ("rag", "oracle")
    named = EvaluationPlan(QUESTIONS, ("closed_book",))
    assert with_arms(pipeline, named) is named


def test_the_facade_says_what_is_left_out(pipeline: Pipeline) -> None:
    plain = plumbline.evaluate(pipeline, QUESTIONS, collection="notes")
    assert [arm.arm for arm in plain.summary.arms] == ["rag", "oracle"]
    assert f"{CLOSED_BOOK_LEFT_OUT}." in plain.notes
    assert not any(note.startswith("0 questions") for note in plain.notes)
    named = plumbline.evaluate(pipeline, QUESTIONS, collection="notes", arms=ARMS)
    assert [arm.arm for arm in named.summary.arms] == list(ARMS)
    assert not any(note.startswith(CLOSED_BOOK_LEFT_OUT) for note in named.notes)


def test_a_job_without_arms_has_the_servers_default(pipeline: Pipeline) -> None:
    request = EvaluationRequest(({"id": "q1", "text": "How long?", "references": ["x"]},), collection=None)
    assert EvaluationRequest.from_json(request.to_json()) == request
    stored = EvaluationRequest.from_json({**request.to_json(), "arms": ["closed_book"]})
    assert plan_of(pipeline, "", stored).arms == ("closed_book",)
    plan = plan_of(pipeline, "", EvaluationRequest(request.questions, collection="notes"))
    assert (plan.arms, plan.left_out) == (("rag", "oracle"), CLOSED_BOOK_LEFT_OUT)
