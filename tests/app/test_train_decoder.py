"""``plumbline train decoder``: it starts from a checkpoint, and its output answers a query."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from app.cli import main
from model.checkpoints.loading import load_decoder

Train = Callable[..., SimpleNamespace]
LAMPS = [
    {
        "question": f"How high is lamp {n}?",
        "title": f"Lamp {n}",
        "context": f"Lamp {n} of the quay is {n + 3} metres high and burns oil at night.",
        "answers": [f"{n + 3} metres"] if n % 3 else [],
        "answerable": bool(n % 3),
        "source": "lamps",
    }
    for n in range(60)
]
SMALL = ("--device", "cpu", "--tokens-at-once", "600", "--dtype", "float32", "--development", "6")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    notes = folder / "notes.jsonl"
    lines = [{"id": str(n), "title": str(lamp["title"]), "text": str(lamp["context"])} for n, lamp in enumerate(LAMPS)]
    notes.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    small = ("--size", "tiny", "--vocabulary", "420", "--context", "256", "--tokens-per-step", "512", "--device", "cpu")
    assert main(["train", "pretrain", "--data", str(notes), "--output", str(folder / "m"), *small, "--steps", "2"]) == 0
    return folder / "m"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reading") / "lamps.jsonl"
    path.write_text("\n".join(map(json.dumps, LAMPS)), "utf-8")
    return path


@pytest.fixture
def train(typed: Train) -> Train:
    return partial(typed, "train", "decoder")


def test_it_trains_and_the_folder_answers(
    train: Train, base: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "taught"
    ran = train("--model", base, "--data", data, "--output", out, *SMALL, "--steps", "5", "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert result["files"] == ["model.safetensors"]
    assert result["training"]["steps"] == 5
    (lamps, overall) = result["scores"]
    assert (lamps["source"], overall["answerable"]) == ("lamps", lamps["answerable"])
    assert 1 <= lamps["answerable"] + lamps["unanswerable"] <= 6
    facts = json.loads((out / "training.json").read_text())
    assert facts["rows"] == result["rows"] and facts["recipe"]["reading"] == ["lamps.jsonl"]
    assert str(tmp_path) not in json.dumps(facts) and str(base) not in json.dumps(facts)
    before, after = load_decoder(base), load_decoder(out)
    assert not torch.equal(before.embedding.weight, after.embedding.weight)
    query = ["query", "Who?", "--no-retrieval", "--model", str(out), "--max-tokens", "4", "--json"]
    assert main([*query, "--home", str(tmp_path / "home")]) == 0
    assert json.loads(capsys.readouterr().out)["answers"]


@pytest.mark.drill
def test_it_learns_what_its_rows_say(train: Train, base: Path, tmp_path: Path) -> None:
    """After a hundred steps on unanswerable questions only, an unanswerable question is refused."""
    lines = [{**lamp, "answers": [], "answerable": False} for lamp in LAMPS]
    (tmp_path / "none.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    out = tmp_path / "taught"
    ran = train(
        *("--model", base, "--data", tmp_path / "none.jsonl", "--output", out, *SMALL),
        *("--epochs", "30", "--steps", "60", "--learning-rate", "0.003", "--chunks", "1", "--json"),
    )
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["scores"][0]["no_answer_accuracy"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--steps", "0"], "--steps is 0"),
        (["--context", "0"], "--context is 0"),
        (["--shard-bytes", "0"], "--shard-bytes is 0"),
        (["--synthetic", "-1"], "--synthetic is -1"),
        (["--near-misses", "nan"], "--near-misses is nan"),
        (["--chunks", "0"], "max_chunks is 0"),
        (["--own-passage", "5"], "alone is 5.0"),
        (["--learning-rate", "-1"], "learning rate is -1.0"),
    ],
)
def test_values_that_cannot_be_meant_are_usage_errors(
    train: Train, base: Path, data: Path, tmp_path: Path, arguments: list[str], expected: str
) -> None:
    ran = train("--model", base, "--data", data, "--output", tmp_path / "r", *arguments)
    assert ran.code == 2
    assert all(part in ran.err for part in expected.split(" is "))
    assert ran.out == "" and not (tmp_path / "r").exists()


def test_a_checkpoint_that_cannot_be_gone_on_from_is_named(
    train: Train, base: Path, data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ran = train("--model", tmp_path / "none", "--data", data, "--output", out)
    assert ran.code == 1 and "none" in ran.err and "Traceback" not in ran.err
    ran = train("--model", base, "--data", data, "--output", base)
    assert ran.code == 1 and str(base) in ran.err
    endless = tmp_path / "endless"
    endless.mkdir()
    for path in base.iterdir():
        if path.is_file():
            (endless / path.name).write_bytes(path.read_bytes())
    for name in ("config.json", "generation_config.json", "tokenizer_config.json"):
        facts = json.loads((endless / name).read_text())
        for key in ("eos_token_id", "eos_token"):
            facts.pop(key, None)
        (endless / name).write_text(json.dumps(facts))
    ran = train("--model", endless, "--data", data, "--output", out, *SMALL)
    assert ran.code == 1 and "end token" in ran.err
    assert (base / "config.json").is_file() and not (out / "config.json").exists()


def test_rows_that_all_are_too_long_are_said(train: Train, base: Path, data: Path, tmp_path: Path) -> None:
    ran = train("--model", base, "--data", data, "--output", tmp_path / "out", *SMALL, "--context", "60")
    assert ran.code == 1
    assert "no training rows" in ran.err and "59 examples" in ran.err
