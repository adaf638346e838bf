"""Import of questions: groups, personal data, omitted records."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from app.errors import AppError
from app.questions.importing import NO_WORDS, TOO_LONG, import_questions
from data.question_loader import load_questions


class Letters:
    fingerprint = "letters"
    dimension = 26
    max_tokens = 100

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.array([[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], dtype=np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    encode_passages = encode_queries

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        return tuple(len(text.split()) for text in texts)


def _log(path: Path, *texts: str) -> Path:
    path.write_text("".join(json.dumps({"messages": [{"role": "user", "content": t}]}) + "\n" for t in texts))
    return path


def test_near_duplicates_are_one_question_and_personal_data_is_gone(tmp_path: Path) -> None:
    log = _log(
        tmp_path / "log.jsonl",
        "When does the office open?",
        "when does the office open",
        "When does the office open?",
        "Write to kim@mail.example.org about buffalo quiz zoo",
        "12345",
        "x" * 2001,
    )
    out = tmp_path / "asked.jsonl"
    report = import_questions([log], out, Letters())
    assert (report.records, report.questions, report.grouped) == (6, 2, 2)
    assert report.refused == {NO_WORDS: 1, TOO_LONG: 1}
    assert [(one.kind, one.where.rsplit(" ", 1)[1]) for one in report.dropped] == [("e-mail", "4")]
    assert "kim@" not in out.read_text()
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert rows[0]["variants"] == ["when does the office open"]
    assert rows[0]["provenance"]["times"] == 3
    assert next(q.text for q in load_questions(out)) == "When does the office open?"


def test_nothing_left_is_an_error_and_no_file(tmp_path: Path) -> None:
    out = tmp_path / "asked.jsonl"
    with pytest.raises(AppError, match=r"log\.jsonl"):
        import_questions([_log(tmp_path / "log.jsonl", "123", "!!")], out, Letters())
    assert not out.exists()
