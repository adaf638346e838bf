"""Review of a question file: decisions, several reviewers, and its figures in a report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.console import Output
from app.errors import AppError
from app.questions.review import QuestionReview
from app.questions.review_terminal import review_in_terminal
from app.runs.report import reviewed_line
from data.errors import DataError
from data.question_loader import load_questions
from evaluation.runs.run_config import hash_questions

ROWS = [
    {"id": "a", "text": "When does it open?", "references": ["nine"], "note": "kept as it is"},
    {"id": "b", "question": "Who leads?", "answers": ["Ann"]},
    {"id": "c", "text": "Where?", "references": ["here"], "evidence": [{"document_id": "d", "start": 0, "end": 4}]},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def _rows(path: Path) -> dict[str, dict[str, object]]:
    return {row["id"]: row for row in map(json.loads, path.read_text().splitlines())}


def test_keeping_marks_who_saw_it_and_leaves_other_fields(file: Path) -> None:
    QuestionReview(file, "ann").keep("a")
    QuestionReview(file, "bo").keep("a")
    row = _rows(file)["a"]
    assert row["reviewed_by"] == ["ann", "bo"]
    assert row["note"] == "kept as it is"
    assert [entry["decision"] for entry in row["review"]] == ["kept", "kept"]  # type: ignore[attr-defined]


def test_mending_replaces_text_and_references_under_any_name(file: Path) -> None:
    review = QuestionReview(file, "ann")
    review.mend("b", "Who leads the team?", ("Ann Lee", " "))
    review.mend("c", None, ("there",))
    mended = {q.id: q for q in load_questions(file)}
    assert (mended["b"].text, mended["b"].references) == ("Who leads the team?", ("Ann Lee",))
    assert (mended["c"].references, mended["c"].evidence) == (("there",), ())


def test_what_others_kept_is_open_again_after_mending(file: Path) -> None:
    QuestionReview(file, "bo").keep("a")
    QuestionReview(file, "ann").mend("a", "When does the shop open?", None)
    assert "a" in [q.id for q in QuestionReview(file, "bo").open_questions()]


def test_unanswerable_and_dropped(file: Path) -> None:
    review = QuestionReview(file, "ann")
    review.mark_unanswerable("a")
    review.drop("c")
    questions = {q.id: q for q in load_questions(file)}
    assert set(questions) == {"a", "b"}
    assert (questions["a"].answerable, questions["a"].references) == (False, ())
    assert list(_rows(review.dropped_path)) == ["c"]
    assert (review.progress().questions, review.progress().reviewed, review.progress().dropped) == (2, 1, 1)


@pytest.mark.parametrize("references", [(), ("",), (" ", "\t")])
def test_no_reference_is_refused(file: Path, references: tuple[str, ...]) -> None:
    before = file.read_bytes()
    with pytest.raises(AppError, match="'a'"):
        QuestionReview(file, "ann").mend("a", None, references)
    assert file.read_bytes() == before


def test_the_last_question_cannot_be_dropped(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(ROWS[0]) + "\n")
    with pytest.raises(AppError, match="'a'"):
        QuestionReview(path, "ann").drop("a")
    assert list(_rows(path)) == ["a"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\x1b[2J"])
def test_names_that_cannot_be_a_reviewers(file: Path, name: str) -> None:
    with pytest.raises(AppError, match="--reviewer"):
        QuestionReview(file, name)


def test_a_file_without_questions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{}\n")
    with pytest.raises(DataError, match=r"x\.jsonl"):
        QuestionReview(tmp_path / "x.jsonl", "ann")


def test_keys_in_the_terminal(file: Path) -> None:
    keys = iter(["z", "k", "t", "d", "q"])
    review = QuestionReview(file, "ann")
    counts = review_in_terminal(
        review, Output(as_json=False), lambda _: None, lambda: next(keys, ""), lambda _: "Who leads now?"
    )
    assert counts == {"kept": 1, "mended": 1, "dropped": 1}
    assert review.open_questions() == []


def test_reports_count_reviewed_questions_and_runs_stay_the_same(file: Path) -> None:
    before = load_questions(file)
    assert reviewed_line(before) is None
    QuestionReview(file, "ann").keep("a")
    after = load_questions(file)
    assert reviewed_line(after) == "1 of 3 questions were reviewed by a person (ann)."
    assert hash_questions(before) == hash_questions(after)
