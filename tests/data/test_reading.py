"""Reading files: plain and compressed, with bad lines named by file and number."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path

import pytest

from data.errors import DataError
from data.reading_examples import ReadingExample, load_reading
from tests.data.example_files import check_bad_line, check_compressed_files, check_limit, write

GOOD = {"question": "Who?", "answers": ["Ada", " "], "context": "Ada did.", "title": "T", "source": "own"}


def test_fields_and_defaults(tmp_path: Path) -> None:
    path = write(
        tmp_path / "mine.train.jsonl",
        GOOD,
        "",
        {"question": "Capital?", "answers": ["Oslo"], "relation": "capital"},
        {"question": "Why?", "answers": [], "answerable": False, "context": "x"},
    )
    first, second, third = load_reading([path]).examples
    assert first == ReadingExample("Who?", ("Ada",), "Ada did.", "T", True, "own")
    assert (second.source, second.group) == ("capital", "capital:Capital?")
    assert (third.source, third.group, third.answerable) == ("mine", "mine:x", False)
    assert first.group == "own:T"


def test_compressed_files_and_a_byte_order_mark(tmp_path: Path) -> None:
    check_compressed_files(load_reading, GOOD, tmp_path)


BAD = [
    "{",
    "[]",
    "null",
    '"text"',
    "[" * 100_000,
    {**GOOD, "question": " "},
    {"answers": ["x"]},
    {**GOOD, "question": 5},
    {**GOOD, "title": None},
    {**GOOD, "answers": "Ada"},
    {**GOOD, "answers": [1]},
    {**GOOD, "answers": [" "]},
    {**GOOD, "answers": None},
    {**GOOD, "answerable": "yes"},
    {**GOOD, "answerable": False},
    {**GOOD, "relation": 7},
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: str(bad)[:40])
def test_a_bad_line_is_named_or_left_out_and_listed(bad: object, tmp_path: Path) -> None:
    check_bad_line(load_reading, GOOD, bad, ".", tmp_path)


def test_limit_is_of_good_lines_a_file(tmp_path: Path) -> None:
    check_limit(load_reading, GOOD, tmp_path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    full = gzip.compress(json.dumps(GOOD).encode() * 50)
    damaged = bytearray(full)
    damaged[30] ^= 0xFF
    files = {
        "cut.jsonl.gz": full[:-20],
        "damaged.jsonl.gz": bytes(damaged),
        "plain.jsonl.bz2": b"{}",
        "cut.jsonl.bz2": bz2.compress(b"{}")[:-5],
        "latin.jsonl": "{'Zürich'}".encode("latin-1"),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=rf"{name}"):
            load_reading([tmp_path / name])
    with pytest.raises(DataError, match=r"none\.jsonl"):
        load_reading([tmp_path / "none.jsonl"])
    with pytest.raises(DataError, match="cannot be read"):
        load_reading([tmp_path])


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    empty = write(tmp_path / "a.jsonl", "", " ")
    with pytest.raises(DataError, match=r"no example in .*a\.jsonl"):
        load_reading([empty])
    with pytest.raises(DataError, match="no example in no file"):
        load_reading([])
    with pytest.raises(DataError, match="no example"):
        load_reading([write(tmp_path / "b.jsonl", "{")], skip_bad=True)
