"""Labels as CSV: what is read back, and every kind of invalid file."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from data.errors import DataError
from data.label_file import LabelRow, label_of_word, problems_message, read_labels, write_labels

ITEMS = ("a1", "b2", "c3")


def row(item: str, label: str = "", question: str = "What?", answer: str = "It.") -> LabelRow:
    return LabelRow(item, label, question, answer, "one\ntwo", "doc: text", "")


def filled(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_a_file_comes_back_with_its_labels_and_nothing_that_a_spreadsheet_would_run(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    rows = [row("a1", "unscored", "=HYPERLINK(1)"), row("b2", "hallucinated", 'x "y", z', "a\x1b[2Jb"), row("c3")]
    assert write_labels(path, rows) == 3
    with path.open(encoding="utf-8-sig", newline="") as file:
        cells = list(csv.reader(file))
    assert cells[1][2] == "'=HYPERLINK(1)" and cells[2][2:4] == ['x "y", z', "a\ufffd[2Jb"]
    read = read_labels(path, ITEMS, "ann")
    assert [(r.item, r.label, r.annotator) for r in read.labels] == [
        ("a1", "unscored", "ann"), ("b2", "hallucinated", "ann")
    ]  # fmt: skip
    assert read.blank == 1 and not read.problems


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_columns_in_any_order_and_names_of_annotators(tmp_path: Path, separator: str) -> None:
    lines = ["Annotator,note,LABEL,Item", "bo,x, S ,a1", ",y,can't tell,b2", ",,,"]
    path = filled(tmp_path / "x.csv", "\r\n".join(line.replace(",", separator) for line in lines))
    read = read_labels(path, ITEMS, "ann")
    assert [(r.item, r.label, r.annotator) for r in read.labels] == [
        ("a1", "supported", "bo"), ("b2", "unscored", "ann")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "label"),
    [("h", "hallucinated"), ("Supported", "supported"), ("cannot_tell", "unscored"), ("A", "abstained"), ("yes", None)],
)
def test_words_of_labels(word: str, label: str | None) -> None:
    assert label_of_word(word) == label


def test_every_bad_line_is_named_and_a_row_is_where_it_begins(tmp_path: Path) -> None:
    text = 'item,label,answer\na1,h,"two\nlines"\nzz,h,x\nb2,maybe,x\na1,s,x\n'
    path = filled(tmp_path / "bad.csv", text)
    read = read_labels(path, ITEMS, "ann")
    assert [p.where.rpartition(":")[2] for p in read.problems] == ["4", "5", "6"]
    message = problems_message(str(path), read.problems)
    for part in ("nothing was imported", "no item 'zz'", "'maybe' must be one of", "already labelled in line 2"):
        assert part in message


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is empty"),
        (b"item;answer\na1;x\n", "no column 'label'"),
        (b"\x00\x01\n", "no column 'item'"),
        ("item,label\na1,h\xe9\n".encode("latin-1"), "not UTF-8 at byte"),
        (b'item,label\na1,"h\n', "not CSV"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=expected):
        read_labels(path, ITEMS, "ann")


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no\.csv"):
        read_labels(tmp_path / "no.csv", ITEMS, "ann")
    with pytest.raises(DataError, match="existing folder"):
        write_labels(tmp_path / "no" / "x.csv", [row("a1")])
