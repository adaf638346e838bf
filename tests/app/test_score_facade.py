"""Scoring of rows and the assertion for test suites, from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import plumbline
from app.errors import UsageError

NOTE = "The warranty of the Heron 4 lasts for three years. Batteries are not covered."
GOOD = {"question": "How long?", "answer": "It lasts for three years.", "contexts": [NOTE]}
BAD = {"question": "Covered?", "answer": "Pelicans founded Zeppelin.", "contexts": [NOTE]}


def rows(good: int, bad: int) -> list[dict[str, Any]]:
    wanted = [GOOD] * good + [BAD] * bad
    return [{**row, "id": str(n), "question": f"{row['question']} {n}"} for n, row in enumerate(wanted)]


def test_rows_and_files_are_scored_alike(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(3, 1)))
    results = [plumbline.score_answers(given, model="token-overlap") for given in (rows(3, 1), path, [str(path)])]
    assert {r.summary.arms[0].hallucinated.default.rate for r in results} == {0.25}
    assert [a.evaluation.outcome for a in results[0].answers] == ["supported"] * 3 + ["hallucinated"]


def test_the_assertion_holds_or_says_what_is_wrong() -> None:
    result = plumbline.score_answers(rows(40, 0), model="token-overlap")
    estimate = plumbline.assert_hallucination_rate(result, 0.10)
    assert estimate.upper is not None and estimate.upper < 0.10
    bad = plumbline.score_answers(rows(30, 10), model="token-overlap")
    with pytest.raises(AssertionError) as failure:
        plumbline.assert_hallucination_rate(bad, 0.10)
    message = str(failure.value)
    assert "25.0 % [" in message and "40 responses to 40 questions" in message and "10.0%" in message
    assert "'Pelicans founded Zeppelin.'" in message and "and 5 more" in message
    plumbline.assert_hallucination_rate(bad, 0.25, by="rate")
    plumbline.assert_hallucination_rate(rows(2, 0), 0.9, model="token-overlap")


def test_scored_answers_as_a_data_frame() -> None:
    empty = {**GOOD, "question": "Empty?", "answer": "", "id": "e"}
    frame = plumbline.score_answers([*rows(2, 1), empty], model="token-overlap").to_pandas()
    assert list(frame.outcome) == ["supported", "supported", "hallucinated", "unscored"]
    assert frame.contexts[0] == [NOTE]
    assert frame.support.isna().tolist() == [False, False, False, True]
    assert frame.unsupported.tolist() == [0, 0, 1, 0]


def test_few_answers_show_nothing() -> None:
    with pytest.raises(AssertionError, match="upper"):
        plumbline.assert_hallucination_rate(rows(3, 0), 0.10, model="token-overlap")


def test_unscored_answers_do_not_help() -> None:
    empty = [{**GOOD, "id": f"e{n}", "question": f"Empty {n}?", "answer": ""} for n in range(5)]
    result = plumbline.score_answers([*rows(35, 0), *empty], model="token-overlap")
    with pytest.raises(AssertionError, match="unscored"):
        plumbline.assert_hallucination_rate(result, 0.10)
    with pytest.raises(AssertionError, match="5 of 40"):
        plumbline.assert_hallucination_rate(result, 0.10, unscored="refuse")
    plumbline.assert_hallucination_rate(result, 0.11, unscored="ignore")
    with pytest.raises(AssertionError, match="35 responses"):  # as of 35 answers alone: the empty ones lend no width
        plumbline.assert_hallucination_rate(result, 0.095, unscored="ignore")
    nothing = plumbline.score_answers([{**GOOD, "answer": "I don't know."}], model="token-overlap")
    with pytest.raises(AssertionError, match="undefined"):
        plumbline.assert_hallucination_rate(nothing, 1.0, of="answered", unscored="ignore")


def test_arguments_that_cannot_be_meant() -> None:
    two = plumbline.score_answers([GOOD | {"arm": "a"}, GOOD | {"arm": "b"}], model="token-overlap")
    with pytest.raises(UsageError, match="arm="):
        plumbline.assert_hallucination_rate(two, 0.5)
    with pytest.raises(UsageError, match="'c'"):
        plumbline.assert_hallucination_rate(two, 0.5, arm="c")
    with pytest.raises(UsageError, match="10 %"):
        plumbline.assert_hallucination_rate(two, 10, arm="a")
    with pytest.raises(UsageError, match="unscored"):
        empty = plumbline.score_answers([GOOD, {**GOOD, "id": "2", "answer": ""}], model="token-overlap")
        plumbline.assert_hallucination_rate(empty, 0.5, of="answered")
