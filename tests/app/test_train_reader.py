"""``plumbline train reader``: invalid options and unusable files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.commands import train_reader
from app.errors import UsageError

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


PARSER = argparse.ArgumentParser()
train_reader.add(PARSER)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--steps", "0"], ("--steps", "0")),
        (["--limit", "0"], ("--limit", "0")),
        (["--tokens", "-5"], ("--tokens", "-5")),
        (["--synthetic", "-1"], ("--synthetic", "-1")),
        (["--closed-book-rows", "-1"], ("--closed-book-rows", "-1")),
        (["--near-misses", "1.5"], ("--near-misses", "1.5")),
        (["--start-share", "nan"], ("--start-share", "nan")),
        (["--start-share", "0.5"], ("--start-share", "--start")),
        (["--layers", "7"], ("--layers", "7", "6")),
        (["--layers", "1", "--start", "r"], ("--layers", "--start")),
        (["--decline-rows", "-1"], ("--decline-rows", "-1")),
        (["--only-decline"], ("--only-decline", "--start")),
        (["--only-decline", "--start", "r", "--decline-rows", "0"], ("--only-decline", "--decline-rows 0")),
        (["--only-decline", "--start", "r", "--steps", "5"], ("--only-decline", "--steps")),
        (["--only-decline", "--start", "r", "--start-share", "0.5"], ("--only-decline", "--start-share")),
        (["--own-passage", "5"], ("alone", "5.0")),
        (["--own-passage", "nan"], ("alone", "nan")),
        (["--repeats", "0"], ("repeats", "0")),
        (["--learning-rate", "-1"], ("learning rate", "-1.0")),
        (["--epochs", "0"], ("epochs", "0")),
        (["--tokens-at-once", "0"], ("tokens_per_batch", "0")),
    ],
)
def test_bad_values_are_usage_errors_that_name_them(arguments: list[str], expected: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        train_reader.reader_recipe(PARSER.parse_args(["--data", "d", "--output", "r", *arguments]))
    assert all(part in str(caught.value) for part in expected)


@pytest.mark.parametrize(
    ("arguments", "expected"), [(["--steps", "0"], "--steps"), (["--repeats", "some"], "--repeats")]
)
def test_a_usage_error_ends_the_command_and_writes_nothing(
    train: Train, data: Path, tmp_path: Path, arguments: list[str], expected: str
) -> None:
    ran = train("--data", data, "--output", tmp_path / "r", *arguments)
    assert ran.code == 2
    assert expected in ran.err
    assert ran.out == ""
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"question": "a", ', "bad.jsonl:1: "),
        ('{"question": "Who?", "context": "x", "answers": "y"}', "bad.jsonl:1: answers"),
        ('{"question": " ", "context": "x", "answers": ["y"]}', "bad.jsonl:1: "),
        ('{"question": "Who?", "context": "x", "answerable": "no"}', "bad.jsonl:1: answerable"),
        ('{"question": "Who?", "context": "x", "answers": []}', "bad.jsonl:1: "),
        ("[" * 100_000, "bad.jsonl:1: "),
        ("", "bad.jsonl"),
    ],
)
def test_a_broken_line_is_named(train: Train, tmp_path: Path, content: str, expected: str) -> None:
    (tmp_path / "bad.jsonl").write_text(content)
    ran = train("--data", tmp_path / "bad.jsonl", "--output", tmp_path / "r")
    assert ran.code == 1, ran.err
    assert expected in ran.err
    assert "Traceback" not in ran.err and not (tmp_path / "r").exists()


def test_files_of_the_wrong_kind_are_named(train: Train, data: Path, tmp_path: Path) -> None:
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(bytes(range(256)) * 20)
    squeezed = tmp_path / "cut.jsonl.gz"
    squeezed.write_bytes(b"\x1f\x8b\x08\x00nonsense")
    for given, expected in (
        (tmp_path / "none.jsonl", "none.jsonl"),
        (tmp_path, str(tmp_path)),
        (binary, "binary.jsonl"),
        (squeezed, "cut.jsonl.gz"),
    ):
        ran = train("--data", given, "--output", tmp_path / "r")
        assert ran.code == 1, ran.err
        assert expected in ran.err and "Traceback" not in ran.err
    ran = train("--data", data, "--output", tmp_path / "r", "--start", tmp_path)
    assert ran.code == 1 and "reader.safetensors" in ran.err
    assert "rows" not in ran.err  # said before any are made
