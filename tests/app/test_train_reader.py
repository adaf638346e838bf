"""``plumbline train reader`` as a user meets it: what cannot be meant, and files that cannot be used."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

Train = Callable[..., SimpleNamespace]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reading") / "lamps.jsonl"
    lines = [
        {"question": f"How high is lamp {n}?", "context": f"Lamp {n} is {n} metres high.", "answers": [f"{n} metres"]}
        for n in range(4)
    ]
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


@pytest.fixture
def train(typed: Train) -> Train:
    return partial(typed, "train", "reader")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--steps", "0"], "--steps is 0"),
        (["--limit", "0"], "--limit is 0"),
        (["--tokens", "-5"], "--tokens is -5"),
        (["--made", "-1"], "--made is -1"),
        (["--closed-book-rows", "-1"], "--closed-book-rows is -1"),
        (["--near-misses", "1.5"], "--near-misses is 1.5: it must be a share, in [0, 1]"),
        (["--start-share", "nan"], "--start-share is nan: it must be a share, in [0, 1]"),
        (["--start-share", "0.5"], "--start-share is a share of --start's weights"),
        (["--decline-rows", "-1"], "--decline-rows is -1"),
        (["--only-decline"], "name its folder with --start"),
        (["--only-decline", "--start", "r", "--decline-rows", "0"], "does nothing"),
        (["--only-decline", "--start", "r", "--steps", "5"], "--only-decline trains nothing: leave --steps out"),
        (["--only-decline", "--start", "r", "--start-share", "0.5"], "leave --start-share out"),
        (["--alone", "5"], "alone is 5.0: it must be a share, in [0, 1]"),
        (["--alone", "nan"], "alone is nan"),
        (["--repeats", "0"], "repeats is 0: it must be at least 1"),
        (["--learning-rate", "-1"], "learning rate is -1.0"),
        (["--epochs", "0"], "epochs is 0"),
        (["--tokens-at-once", "0"], "tokens_per_batch is 0"),
        (["--repeats", "some"], "invalid int value"),
    ],
)
def test_values_that_cannot_be_meant_are_usage_errors(
    train: Train, data: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    ran = train("--data", data, "--output", tmp_path / "r", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert ran.out == ""
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"question": "a", ', "bad.jsonl:1: "),
        ('{"question": "Who?", "context": "x", "answers": "y"}', "bad.jsonl:1: answers must be a list of texts"),
        ('{"question": " ", "context": "x", "answers": ["y"]}', "bad.jsonl:1: the question is empty"),
        ('{"question": "Who?", "context": "x", "answerable": "no"}', "bad.jsonl:1: answerable must be true or false"),
        ('{"question": "Who?", "context": "x", "answers": []}', "answers must be there exactly when"),
        ("[" * 100_000, "bad.jsonl:1: "),
        ("", "no example in"),
    ],
)
def test_a_broken_line_is_named(train: Train, tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "bad.jsonl").write_text(content)
    ran = train("--data", tmp_path / "bad.jsonl", "--output", tmp_path / "r")
    assert ran.code == 1, ran.err
    assert said in ran.err
    assert "Traceback" not in ran.err and not (tmp_path / "r").exists()


def test_files_of_the_wrong_kind_are_named(train: Train, data: Path, tmp_path: Path) -> None:
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(bytes(range(256)) * 20)
    squeezed = tmp_path / "cut.jsonl.gz"
    squeezed.write_bytes(b"\x1f\x8b\x08\x00nonsense")
    for given, said in (
        (tmp_path / "none.jsonl", "none.jsonl does not exist"),
        (tmp_path, str(tmp_path)),
        (binary, "binary.jsonl"),
        (squeezed, "cut.jsonl.gz"),
    ):
        ran = train("--data", given, "--output", tmp_path / "r")
        assert ran.code == 1, ran.err
        assert said in ran.err and "Traceback" not in ran.err
    ran = train("--data", data, "--output", tmp_path / "r", "--start", tmp_path)
    assert ran.code == 1 and "reader.safetensors is missing" in ran.err
    assert "rows" not in ran.err  # said before any are made
