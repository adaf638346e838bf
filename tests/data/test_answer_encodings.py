"""Files of answers as spreadsheets save them: byte order marks, UTF-16, semicolons, and errors of binary files."""

from __future__ import annotations

from pathlib import Path

import pytest

from data.answers import load_answers
from data.errors import DataError

TABLE = "Question{0}Answer{0}Contexts{0}Supported\r\nHow long?{0}Drei Jahre für alle.{0}Three years.{0}yes\r\n"


@pytest.mark.parametrize(
    ("name", "mark", "encoding"),
    [
        ("excel.csv", ";", "utf-8-sig"),
        ("excel.csv", ",", "utf-16"),
        ("unicode_text.txt", "\t", "utf-16"),
        ("unicode_text.tsv", "\t", "utf-16"),
        ("big_endian.csv", ";", "utf-16-be"),
    ],
)
def test_tables_are_read_by_their_byte_order_mark(tmp_path: Path, name: str, mark: str, encoding: str) -> None:
    path = tmp_path / name
    begun = "\ufeff" if encoding == "utf-16-be" else ""  # the other encodings write it
    path.write_bytes((begun + TABLE.format(mark)).encode(encoding))
    (record,) = load_answers([path]).records
    assert (record.question, record.answer, record.contexts) == ("How long?", "Drei Jahre für alle.", ("Three years.",))
    assert record.hallucinated is False


def test_json_may_be_utf16_too(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_bytes('[{"answer": "für", "contexts": ["x"]}]'.encode("utf-16"))
    assert load_answers([path]).records[0].answer == "für"


@pytest.mark.parametrize("name", ["old.csv", "old.json"])
def test_another_encoding_is_said_with_what_to_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = '[{"answer": "für", "contexts": ["x"]}]' if name.endswith("json") else "answer,contexts\nfür,x\n"
    path.write_bytes(text.encode("cp1252"))
    with pytest.raises(DataError, match=rf"{name}.*UTF-8.*byte \d+"):
        load_answers([path])


def test_half_a_utf16_character_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "cut.csv"
    path.write_bytes("answer,contexts\nx,y\n".encode("utf-16") + b"\x00\xd8\x00")
    with pytest.raises(DataError, match="is not UTF-16"):
        load_answers([path])
