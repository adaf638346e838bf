"""Rates corrected by labels that came with another system's answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli import main

WITH = ("--verifier", "reference")


def answers(questions: int, labelled: int, error: float) -> list[dict[str, Any]]:
    """Answers of two systems.

    The reference verifier accepts those that say "seven". Labels differ from it in a share.
    """
    rng = np.random.default_rng(3)
    rows = []
    for number in range(questions):
        for system, rate in (("old", 0.5), ("new", 0.25)):
            wrong = bool(rng.random() < rate)
            row = {
                "id": f"{system}{number}", "system": system, "question": f"How many are {number}?",
                "answer": "nine" if wrong else "seven", "reference": "seven",
            }  # fmt: skip
            if number < labelled:
                row["hallucinated"] = bool(wrong != (rng.random() < error))
            rows.append(row)
    return rows


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def scored(path: str, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert main(["score", path, *WITH, "--json", *options]) in (0, 3)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_labels_of_some_answers_correct_the_rates_of_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = answers(200, 100, 0.2)
    path = written(tmp_path / "a.jsonl", rows)
    found = scored(path, capsys, "--fail-if", "corrected_hall_old.upper > 0.999")
    assert found["corrected"] is True and found["fail_if"]["failed"] is False
    run = found["corrected_by_labels"]["run"]
    assert (run["population"], run["labelled"]) == (200, 100)
    labels = {a: [r["hallucinated"] for r in rows if r["system"] == a and "hallucinated" in r] for a in ("old", "new")}
    for arm in run["arms"]:
        hallucinated = arm["hallucinated"]
        assert hallucinated["headline"] == "rectified" and arm["labelled"] == 100
        assert hallucinated["labels_only"]["rate"] == pytest.approx(np.mean(labels[arm["arm"]]))
        assert arm["positives"] == sum(labels[arm["arm"]]) and arm["disagreements"] >= 5
    (pair,) = run["pairs"]
    assert (pair["baseline"], pair["other"]) == ("old", "new")
    assert any("are valid if the labelled answers are a random sample" in note for note in found["notes"])


def test_when_every_answer_is_labelled_the_corrected_rate_is_that_of_the_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = answers(60, 60, 0.2)
    run = scored(written(tmp_path / "a.jsonl", rows), capsys)["corrected_by_labels"]["run"]
    for arm in run["arms"]:
        truth = np.mean([r["hallucinated"] for r in rows if r["system"] == arm["arm"]])
        assert arm["hallucinated"]["rectified"]["rate"] == pytest.approx(truth, abs=1e-9)


def test_tables_and_page_show_both_and_too_few_labels_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["score", written(tmp_path / "a.jsonl", answers(80, 40, 0.2)), *WITH, "--report", str(page)]) == 0
    shown = capsys.readouterr()
    assert "Corrected by labels of 40 of 80 questions" in shown.out and "Rogan-Gladen" in shown.out
    assert 'id="corrected"' in page.read_text("utf-8")
    few = written(tmp_path / "few.jsonl", answers(20, 4, 0.0))
    assert main(["score", few, *WITH]) == 0
    output = capsys.readouterr()
    assert "5 labelled" in output.err and "Corrected by labels" not in output.out
    assert main(["score", few, *WITH, "--fail-if", "corrected_hall_new.upper > 0.5"]) == 3
