"""Settings from a YAML file: names of flags, flags that override it, errors for unknown names."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from app.cli import build_parser
from app.config_file import is_config, with_config
from app.errors import UsageError


def parse(path: Path, text: str, *more: str) -> argparse.Namespace:
    path.write_text(text, encoding="utf-8")
    argv = ["evaluate", str(path), *more]
    arguments = build_parser().parse_args(argv)
    arguments.argv = argv[1:]
    return with_config(arguments, "questions")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.yaml"


def test_settings_stand_for_flags(file: Path) -> None:
    text = """
questions: [samples, more.jsonl]
arms: [closed_book, rag+distractors:2]
temperatures: [0, 0.7, 1]
n: 5
top-k: 7
stop: ["END", "."]
retry-failed: true
faithfulness: false
limit: null
"""
    found = parse(file, text)
    assert found.questions == ["samples", "more.jsonl"]
    assert (found.arms, found.temperatures) == ("closed_book,rag+distractors:2", "0,0.7,1")
    assert (found.n, found.top_k, found.stop) == (5, 7, ["END", "."])
    assert (found.retry_failed, found.faithfulness, found.limit) == (True, False, None)
    assert (found.seed, found.command) == (0, "evaluate")  # defaults stay
    assert callable(found.run)


def test_flags_override(file: Path) -> None:
    found = parse(
        file, "questions: samples\nn: 5\nk: 2\nstop: [END]\narms: rag\n", "--n", "1", "-k", "3", "--stop", "x"
    )
    assert (found.n, found.k, found.stop, found.arms) == (1, 3, ["x"], "rag")
    assert found.questions == ["samples"]
    assert parse(file, "questions: samples\n", "other.jsonl").questions == ["other.jsonl"]


# Each list holds the one before ten times: written out, the last would have a hundred thousand million numbers.
PAIRS = list(zip("abcdefghij", "bcdefghijk", strict=True))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("temprature: 1", "'temprature'.*temperature"),
        ("zzz: 1", "'zzz'.*arms"),
        ("dry-run: true", "'dry-run'"),
        ("- a\n- b", "list"),
        ("", "NoneType"),
        ("n: [1, 2", "YAML"),
        ("n: {a: 1}", "n .*{'a': 1}"),
        ("top-k: 1\ntop_k: 2", "'top_k'"),
        ("n: " + "[" * 100_000, "YAML"),
        ("n: 2026-02-31", "YAML"),
        ("n: " + "9" * 5000, "YAML"),
        ("n: &a [*a]", r"n .*\[+\.\.\.\]+"),
        (
            "n:\n- &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(f"- &{c} [{','.join(['*' + p] * 10)}]\n" for p, c in PAIRS),
            r"n .*\[",
        ),
    ],
)
def test_what_is_wrong_is_named(file: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse(file, text)


def test_values_are_checked_as_flags_are(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        parse(file, "questions: samples\nn: many\n")
    assert left.value.code == 2
    err = capsys.readouterr().err
    assert "--n" in err and "'many'" in err


def test_one_file_that_is_there(tmp_path: Path, file: Path) -> None:
    with pytest.raises(UsageError, match="settings"):
        parse(file, "n: 1", str(tmp_path / "b.yml"))
    arguments = argparse.Namespace(questions=["gone.yaml"], argv=["gone.yaml"], reparse=build_parser().parse_args)
    arguments.reparse = lambda words, space=None: argparse.Namespace()
    with pytest.raises(UsageError, match=r"gone\.yaml"):
        with_config(arguments, "questions")
    assert is_config("A.YAML")
    assert not is_config("samples")
