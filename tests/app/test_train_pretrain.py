"""``plumbline train pretrain``: it trains, explains how to continue, and its output answers a query."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import main

NOTES = "\n".join(
    json.dumps(
        {"id": f"n{n}", "title": f"Lamp {n}", "text": f"Lamp {n} of the quay burns oil number {n * n} at night."}
    )
    for n in range(60)
)
SMALL = ("--size", "tiny", "--vocabulary", "320", "--context", "128", "--tokens-per-step", "256", "--device", "cpu")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    path.write_text(NOTES, "utf-8")
    return path


def train(notes: Path, *more: str) -> int:
    return main(["train", "pretrain", "--data", str(notes), "--output", str(notes.parent / "model"), *SMALL, *more])


def test_it_trains_and_the_folder_answers(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(notes, "--steps", "3", "--json") == 0
    ran = capsys.readouterr()
    result = json.loads(ran.out)
    assert result["finished"]
    assert result["training"]["step"] == 3
    assert result["corpus"]["documents"] == 60
    assert result["corpus"]["validation_documents"] > 0
    assert result["validation"]["perplexity"] > 1
    assert result["files"] == ["model.safetensors"]
    assert "matrix rate" in ran.err
    folder = str(notes.parent / "model")
    query = ["query", "Who?", "--no-retrieval", "--model", folder, "--max-tokens", "4", "--json"]
    assert main([*query, "--home", str(notes.parent / "home")]) == 0
    assert json.loads(capsys.readouterr().out)["answers"]


def test_out_of_time_it_says_how_to_go_on(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for expected in ("tokenising", "step 1 of 2"):
        assert train(notes, "--steps", "2", "--max-seconds", "1e-9") == 0
        ran = capsys.readouterr()
        assert ran.out == ""
        assert expected in " ".join(ran.err.split())
    assert train(notes, "--steps", "2") == 0
    ran = capsys.readouterr()
    assert "held out" in ran.out
    assert f"model {notes.parent / 'model'}" in ran.out


def test_bad_lines_are_counted(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes.write_text(NOTES + "\n{\n", "utf-8")
    assert train(notes, "--steps", "1") == 1
    assert "notes.jsonl:61" in capsys.readouterr().err
    assert train(notes, "--steps", "1", "--skip-bad") == 0
    assert "notes.jsonl:61" in "".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("more", "code", "expected"),
    [
        (("--limit", "0"), 2, "--limit is 0"),
        (("--epochs", "nan"), 2, "--epochs is nan"),
        (("--max-seconds", "-1"), 2, "--max-seconds is -1.0"),
        (("--hold-out", "100"), 2, "--hold-out is 100"),
        (("--shard-bytes", "5"), 2, "--shard-bytes is 5"),
        (("--learning-rate", "inf"), 2, "learning_rate is inf"),
        (("--vocabulary", "9"), 1, "vocabulary is 9"),
        (("--data", "/no/such/text"), 1, "/no/such/text"),
        (("--device", "cuda"), 1, "CUDA"),
    ],
)
def test_what_cannot_be_meant_gets_one_message(
    notes: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], code: int, expected: str
) -> None:
    assert train(notes, *more) == code
    ran = capsys.readouterr()
    assert all(part in " ".join(ran.err.split()) for part in expected.split(" is "))
    assert ran.out == ""


def test_home_and_json_may_stand_on_either_side(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = [*SMALL, "--data", str(notes), "--output", str(notes.parent / "m"), "--steps", "1"]
    assert main(["train", "--json", "pretrain", *small]) == 0
    assert json.loads(capsys.readouterr().out)["training"]["step"] == 1
