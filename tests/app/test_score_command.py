"""``plumbline score``: output, files, exit codes, and resuming."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app.cli import main

NOTE = "The warranty of the Heron 4 lasts for three years. Batteries are not covered."
ROWS: list[dict[str, Any]] = [
    {"question": "How long?", "answer": "It lasts for three years.", "contexts": [NOTE], "hallucinated": False},
    {
        "question": "Covered?",
        "answer": "Pelicans <b>founded</b> the Heron warranty.",
        "contexts": [NOTE],
        "hallucinated": True,
    },
]
WITH = ("--verifier-model", "token-overlap")


@pytest.fixture
def answers(tmp_path: Path) -> str:
    return written(tmp_path / "answers.jsonl", ROWS)


def written(path: Path, rows: Sequence[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_one_json_document(answers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", answers, *WITH, "--json"]) == 0
    found = document(capsys)
    assert (found["measure"], found["answers"], found["corrected"]) == ("faithfulness", 2, False)
    assert found["columns"] == {
        "question": "question",
        "answer": "answer",
        "contexts": "contexts",
        "hallucinated": "hallucinated",
    }
    (arm,) = found["summary"]["arms"]
    assert arm["hallucinated"]["default"]["rate"] == 0.5
    assert found["detection"]["auroc"]["estimate"] == 1.0
    assert any("inherit its errors" in note for note in found["notes"])


def test_tables_verdicts_and_the_page(answers: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, lines = tmp_path / "page.html", tmp_path / "verdicts.jsonl"
    assert main(["score", answers, *WITH, "--report", str(page), "--answers", str(lines)]) == 0
    shown = capsys.readouterr()
    assert "faithfulness: each answer against its own contexts; 2 answers to 2 questions" in shown.out
    assert "labels: 2 answers, 1 of them hallucinated" in shown.out
    assert "errors" in shown.err
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [row["outcome"] for row in rows] == ["supported", "hallucinated"]
    (span,) = rows[1]["unsupported"]
    assert (
        rows[1]["answer"][span["start"] : span["end"]] == span["text"] == "Pelicans <b>founded</b> the Heron warranty."
    )
    assert rows[1]["weak"]
    html = page.read_text()
    assert "The rates measure faithfulness" in html and "not faithfulness to the chunks" not in html
    assert "<b>founded" not in html and "labelled hallucinated" in html
    assert "AUROC of 1.000" in html and "http" not in html.replace("http-equiv", "")


@pytest.mark.parametrize(
    ("condition", "code"),
    [("hall_all.upper > 0.10", 3), ("hall_all.rate > 0.5", 0), ("hall_answers.rate >= 50% and hall_all < 1", 3)],
)
def test_fail_if(answers: str, condition: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", answers, *WITH, "--fail-if", condition, "--json"]) == code
    found = document(capsys)
    assert (found["fail_if"]["failed"], found["exit_code"]) == (code == 3, code)


def test_exports_are_checked_before_and_written_after_judging(
    tmp_path: Path, answers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = [part for kind in ("parquet", "otlp") for part in ("--export", kind, f"{tmp_path}/{kind}")]
    assert main(["score", answers, *WITH, *kinds]) == 0
    assert "parquet: " in capsys.readouterr().err
    again = [main(["score", f"{tmp_path}/{kind}", *WITH, "--json"]) for kind in ("parquet", "otlp")]
    assert again == [0, 0]
    assert main(["score", answers, *WITH, "--export", "pdf", "x"]) == 2
    capsys.readouterr()
    for kind, target in (
        ("parquet", f"{tmp_path}/no/x"),
        ("parquet", "http://127.0.0.1:9"),
        ("otlp", "http://127.0.0.1:9/v1/logs"),
    ):
        assert main(["score", answers, *WITH, "--export", kind, target]) == 1
        shown = capsys.readouterr()
        assert "--export" in shown.err and not shown.out


def test_exit_codes_of_what_is_wrong(tmp_path: Path, answers: str, capsys: pytest.CaptureFixture[str]) -> None:
    partial = written(tmp_path / "partial.jsonl", [*ROWS, {"question": "x", "answer": "", "contexts": [NOTE]}])
    assert main(["score", partial, *WITH]) == 0  # an empty answer is unscored; 4 is for a verifier that failed
    assert "1 unscored" in capsys.readouterr().err
    assert main(["score", partial, *WITH, "--fail-if", "hall_all.upper > 0.1"]) == 3
    assert main(["score", answers, *WITH, "--fail-if", "hall_rag.upper > 0.1"]) == 2
    err = capsys.readouterr().err
    assert "'hall_rag'" in err and "hall_all" in err
    for wrong in (["--fail-if", "oops"], ["--threshold", "0"], ["--limit", "0"], ["--level", "1"]):
        assert main(["score", answers, *WITH, *wrong]) == 2
    assert main(["score", answers, *WITH, "--report", str(tmp_path / "no" / "page.html")]) == 2
    assert main(["score", str(tmp_path / "none.jsonl")]) == 1
    assert main(["score", answers, "--verifier-model", "no-such-model"]) == 1
    assert main(["score", answers, "--verifier-model", "reader"]) == 1
    assert "reader" in capsys.readouterr().err


def test_bad_lines_end_it_or_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(ROWS[0]) + "\nnot json\n")
    assert main(["score", str(path), *WITH]) == 1
    assert "bad.jsonl:2" in capsys.readouterr().err
    assert main(["score", str(path), *WITH, "--skip-bad", "--json"]) == 0
    assert len(document(capsys)["skipped"]) == 1


def test_going_on_from_what_an_interrupted_call_kept(
    answers: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = tmp_path / "verdicts.jsonl"
    assert main(["score", answers, *WITH, "--answers", str(lines)]) == 0
    full = lines.read_text()
    first, second = full.splitlines(keepends=True)
    changed = first.replace('"reason": ""', '"reason": "kept"', 1)
    lines.write_text(changed + second[:40])  # a kill in the middle of a line
    assert main(["score", answers, *WITH, "--answers", str(lines)]) == 0
    again = lines.read_text().splitlines(keepends=True)
    assert json.loads(again[0])["reason"] == "kept", "the first verdict was not taken from the file"
    assert again[1] == second
    assert [p.name for p in tmp_path.iterdir() if p.name.endswith(".tmp")] == []


def test_a_file_that_is_something_else_is_not_overwritten(
    answers: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for content in ('{"a": 1}\n', "letters\n"):
        (tmp_path / "mine.jsonl").write_text(content)
        assert main(["score", answers, *WITH, "--answers", str(tmp_path / "mine.jsonl")]) == 1
        assert "file" in capsys.readouterr().err
        assert (tmp_path / "mine.jsonl").read_text() == content
    assert main(["score", answers, *WITH, "--answers", answers]) == 1
