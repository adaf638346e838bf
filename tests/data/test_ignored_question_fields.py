"""Fields of a question file that are not read are named once, with their counts."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from data.question_loader import load_question_files


def _file(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps({"id": str(n), "question": "Why?", **row}) + "\n" for n, row in enumerate(rows)))
    return path


def _warned(caplog: pytest.LogCaptureFixture, *paths: Path) -> list[str]:
    with caplog.at_level(logging.WARNING):
        load_question_files(paths)
    return [record.getMessage() for record in caplog.records if record.name == "plumbline.questions"]


def test_ignored_fields_are_named_with_their_counts(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = _file(tmp_path / "q.jsonl", {"colour": "red", "\x1b[2Jbell": 1}, {"colour": "blue"}, {})
    [line] = _warned(caplog, file)
    assert "'colour' (2)" in line and "'\\x1b[2Jbell' (1)" in line and "q.jsonl" in line


def test_empty_fields_and_read_fields_are_not_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = _file(tmp_path / "q.jsonl", {"metadata": {}, "note": None, "tags": [], "golden_answers": ["a"], "x": ""})
    assert _warned(caplog, file) == []


def test_many_fields_stay_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = _file(tmp_path / "q.jsonl", {f"column{n}": n for n in range(50)})
    [line] = _warned(caplog, file)
    assert "and 40 more" in line and "\n" not in line


def test_fields_that_the_question_commands_write_are_not_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    written = {"provenance": {"writer": "rule"}, "review": [{"by": "ann", "action": "keep"}]}
    assert _warned(caplog, _file(tmp_path / "q.jsonl", written)) == []
    [line] = _warned(caplog, _file(tmp_path / "r.jsonl", {**written, "reviewed": "yes"}))
    assert "'reviewed' (1)" in line and "provenance" not in line
