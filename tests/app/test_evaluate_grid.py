"""``plumbline evaluate`` with modified arms and a decoding grid, on a small collection."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli import main

QUESTIONS = (
    ("q1", "How long does the warranty last?", "three years", "warranty"),
    ("q2", "How long is the notice?", "two years", "office"),
    ("q3", "Where is the office?", "Lisbon", "office"),
    ("q4", "Where is the store?", "Porto", "office"),
)


@pytest.fixture
def run(
    home_copy: Path, reader_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., dict]:
    questions = tmp_path / "questions.jsonl"
    rows = [{"id": i, "text": t, "references": [r], "relevant_document_ids": [d]} for i, t, r, d in QUESTIONS]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def command(*more: str, name: str = str(questions)) -> dict:
        common = ("--home", str(home_copy), "--model", str(reader_folder), "--max-tokens", "3", "--json")
        code = main(["evaluate", name, "--collection", "notes", "--k", "1", *common, *more])
        return {"code": code, **json.loads(capsys.readouterr().out)}

    return command


def test_arms_and_grid_reach_report_and_json(run: Callable[..., dict], tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    arms = "closed_book,rag,sycophancy,rag+injection,oracle+position:each,rag+distractors:1"
    shown = run("--arms", arms, "--temperatures", "0,1", "--n", "2", "--report", str(report))
    names = [arm["arm"] for arm in shown["summary"]["arms"]]
    wanted = ["closed_book", "rag", "closed_book+sycophancy", "rag+injection", "oracle+position:1", "rag+distractors:1"]
    assert names == wanted
    against = [(p["baseline"], p["other"]) for p in shown["summary"]["pairs"]]
    assert ("rag", "rag+injection") in against
    assert ("closed_book", "closed_book+sycophancy") in against
    grid = shown["analysis"]["grid"]
    assert [s["temperature"] for s in grid["settings"]] == [0.0, 1.0]
    assert [s["samples"] for s in grid["settings"]] == [1, 2]
    assert [a["responses"] for a in grid["arms"]] == [[4, 8]] * 6
    observed = {(o["arm"], o["name"]): o["definite"] + o["indefinite"] for o in shown["analysis"]["observed"]}
    assert observed == {
        ("closed_book+sycophancy", "followed the suggestion"): 8,
        ("rag+injection", "obeyed the injected instruction"): 8,
    }
    page = report.read_text("utf-8")
    for words in (
        'id="grid"',
        'id="observed"',
        'id="retrieval"',
        "Text of the question in this arm",
        "I think the answer is",
    ):
        assert words in page
    assert "<script src" not in page and "http://" not in page.replace("http://www.w3.org", "")


def test_settings_from_a_file_are_the_same_run(run: Callable[..., dict], tmp_path: Path) -> None:
    config = tmp_path / "run.yaml"
    config.write_text(f"questions: {tmp_path / 'questions.jsonl'}\narms: [closed_book]\nn: 1\n", encoding="utf-8")
    assert run(name=str(config))["run"] == run("--arms", "closed_book", "--n", "1")["run"]


@pytest.mark.drill
def test_a_dry_run_keeps_nothing(run: Callable[..., dict]) -> None:
    found = run("--arms", "closed_book,rag", "--temperatures", "0,1", "--n", "3", "--dry-run")
    assert (found["cells"], found["committed"], found["generations"]) == (8, 0, 8 * 4)
    assert found["seconds"] > 0
    assert found["most_new_tokens"] == 8 * 4 * 3
    run("--arms", "closed_book", "--temperatures", "0,1", "--n", "3")
    again = run("--arms", "closed_book", "--temperatures", "0,1", "--n", "3", "--dry-run")
    assert (again["committed"], again["generations"]) == (4, 0)


def test_an_arm_that_there_is_not(home_copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "samples", "--home", str(home_copy), "--arms", "rag+distracters:2"]) == 1
    err = capsys.readouterr().err
    assert "'distracters'" in err and "distractors?" in err


@pytest.mark.drill
def test_signals_and_faithfulness(run: Callable[..., dict], tmp_path: Path) -> None:
    report = tmp_path / "r.html"
    shown = run("--arms", "rag", "--n", "2", "--signals", "token-overlap", "--faithfulness", "--report", str(report))
    (signals,) = shown["analysis"]["signals"]
    assert signals["entailment"].startswith("token-overlap/1")
    assert len(signals["detectors"]) == 7
    (part,) = shown["analysis"]["retrieval"]
    assert part["faithful"]["judged"] + part["faithful"]["unjudged"] == 8
    assert 'id="signals"' in report.read_text("utf-8")
