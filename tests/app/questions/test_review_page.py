"""The review page: decisions, escaping, and requests of other sites."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.questions.review import QuestionReview
from app.questions.review_page import review_app
from data.question_loader import load_questions

ROWS = [
    {"id": "a", "text": "When does <b>it</b> open?", "references": ["nine"], "relevant_document_ids": ["d"]},
    {"id": "b", "text": "Who leads?", "references": ["Ann"], "evidence": [{"document_id": "d", "start": 4, "end": 7}]},
    {"id": "c", "text": "Where?", "references": ["here"]},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.fixture
def client(file: Path) -> TestClient:
    app = review_app(QuestionReview(file, "ann"), {"d": "Now Ann <i>leads</i>."}.get)
    return TestClient(app, base_url="http://127.0.0.1")


def test_decisions_one_after_the_other(client: TestClient, file: Path) -> None:
    shown = client.get("/")
    assert "When does &lt;b&gt;it&lt;/b&gt; open?" in shown.text
    assert client.post("/", data={"id": "a", "decision": "keep"}).status_code == 200
    shown = client.get("/")
    assert "<mark>Ann</mark>" in shown.text
    assert "&lt;i&gt;leads" in shown.text
    client.post("/", data={"id": "b", "decision": "mend", "text": "Who leads now?", "references": "Ann\nAnn Lee\n"})
    client.post("/", data={"id": "c", "decision": "drop"})
    questions = {q.id: q for q in load_questions(file)}
    assert (questions["b"].text, questions["b"].references) == ("Who leads now?", ("Ann", "Ann Lee"))
    assert set(questions) == {"a", "b"}
    assert "All done" in client.get("/").text


def test_a_text_alone_keeps_the_places_of_the_answer(client: TestClient, file: Path) -> None:
    client.post("/", data={"id": "b", "decision": "mend", "text": "Who is the leader?", "references": "Ann"})
    assert {q.id: q.evidence for q in load_questions(file)}["b"]


def test_skipping_writes_nothing(client: TestClient, file: Path) -> None:
    before = file.read_bytes()
    client.post("/", data={"id": "a", "decision": "skip"})
    assert "Who leads?" in client.get("/").text
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("data", "headers", "status"),
    [
        ({"id": "a", "decision": "burn"}, {}, 400),
        ({"id": "zzz", "decision": "keep"}, {}, 409),
        ({"id": "a", "decision": "mend", "text": "When does <b>it</b> open?", "references": "nine"}, {}, 409),
        ({"id": "a", "decision": "keep"}, {"origin": "http://elsewhere.example"}, 403),
        ({"id": "a", "decision": "keep"}, {"sec-fetch-site": "cross-site"}, 403),
        ({"id": "a", "decision": "keep"}, {"host": "elsewhere.example"}, 403),
        ({"id": "a", "decision": "mend", "text": "x" * 70_000}, {}, 413),
    ],
)
def test_what_is_refused_changes_nothing(
    client: TestClient, file: Path, data: dict[str, str], headers: dict[str, str], status: int
) -> None:
    before = file.read_bytes()
    assert client.post("/", data=data, headers=headers).status_code == status
    assert file.read_bytes() == before
