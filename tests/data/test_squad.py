"""SQuAD's nested layout, versions 1.1 and 2.0, with bad questions named by their location."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from data.errors import DataError
from data.reading_examples import ReadingExample
from data.squad import load_squad

GOOD: dict[str, Any] = {"id": "q1", "question": "Who drew it?", "answers": [{"text": "Ada", "answer_start": 0}]}


def write(path: Path, *questions: object, title: object = "Skerry", context: object = "Ada drew the light.") -> Path:
    article = {"title": title, "paragraphs": [{"context": context, "qas": list(questions)}]}
    path.write_text(json.dumps({"version": "v2.0", "data": [article]}, indent=1), "utf-8")
    return path


def test_both_versions(tmp_path: Path) -> None:
    path = write(
        tmp_path / "own.dev.json",
        {**GOOD, "answers": [{"text": "Ada"}, {"text": "Ada"}, {"text": "Ada T."}, {"text": " "}]},
        {**GOOD, "is_impossible": True, "answers": [], "plausible_answers": [{"text": "Ole"}]},
    )
    one, two = load_squad(path).examples
    assert one == ReadingExample("Who drew it?", ("Ada", "Ada T."), "Ada drew the light.", "Skerry", True, "own")
    assert (two.answerable, two.answers, two.group) == (False, (), "own:Skerry")


def test_compressed_and_limited(tmp_path: Path) -> None:
    plain = write(tmp_path / "a.json", GOOD, GOOD, GOOD)
    packed = tmp_path / "b.json.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert len(load_squad(packed).examples) == 3
    assert len(load_squad(plain, limit=2).examples) == 2


BAD: list[object] = [
    7,
    {"question": "Who?"} | {"answers": "Ada"},
    {"answers": []},
    {**GOOD, "question": " "},
    {**GOOD, "question": None},
    {**GOOD, "is_impossible": "no"},
    {**GOOD, "answers": []},
    {**GOOD, "answers": ["Ada"]},
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_a_bad_question_is_named_or_left_out(tmp_path: Path, bad: object) -> None:
    path = write(tmp_path / "a.json", GOOD, bad)
    with pytest.raises(DataError, match=r"data\[0\]\.paragraphs\[0\]\.qas\[1\].*skip such questions"):
        load_squad(path)
    read = load_squad(path, skip_bad=True)
    assert (len(read.examples), len(read.skipped)) == (1, 1)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("{", "not one JSON document"),
        ("[]", "no list of articles"),
        ('{"data": [{}]}', r"data\[0\] has no list 'paragraphs'"),
        ('{"data": [{"paragraphs": [{"context": "x"}]}]}', r"paragraphs\[0\] has no list 'qas'"),
        ('{"data": []}', "no question"),
        ("", "not one JSON document"),
    ],
)
def test_another_layout_is_refused(tmp_path: Path, content: str, expected: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(DataError, match=expected):
        load_squad(path)
    with pytest.raises(DataError, match="does not exist"):
        load_squad(tmp_path / "none.json")


def test_a_context_that_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="context must be text"):
        load_squad(write(tmp_path / "a.json", GOOD, context=None))
