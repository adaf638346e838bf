from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from data.documents import Document
from data.loaders import Refused

Read = Callable[..., list[Document | Refused]]


def good(items: list[Document | Refused]) -> list[Document]:
    return [item for item in items if isinstance(item, Document)]


def refused(items: list[Document | Refused]) -> dict[str, str]:
    return {item.where.rpartition("/")[2]: item.reason for item in items if isinstance(item, Refused)}


def test_a_text_column_makes_documents_and_the_others_metadata(here: Read) -> None:
    items = here("a.csv", 'id,title,Text,year\n7,Pump,"It ""pumps"",\nwell.",1999\n8,,Hose,\n')
    assert items == [
        Document("7", "Pump", 'It "pumps",\nwell.', (("row", "2"), ("year", "1999"))),
        Document("8", "", "Hose", (("row", "3"),)),
    ]


def test_a_table_without_a_text_column_is_read_row_by_row(here: Read) -> None:
    items = good(here("a.csv", "\ufeffpart;price;\n\nvalve;3,5;x\n"))
    assert items == [Document("a.csv#3", "", "part: valve\nprice: 3,5\ncolumn 3: x", (("row", "3"),))]


def test_a_first_row_of_data_is_not_lost(here: Read) -> None:
    items = good(here("a.csv", "1,Alice\n2,Bob\n"))
    assert [item.text for item in items] == ["column 1: 1\ncolumn 2: Alice", "column 1: 2\ncolumn 2: Bob"]
    years = good(here("b.csv", "country,1999,2000\nChile,1,2\n"))
    assert [item.text for item in years] == ["country: Chile\n1999: 1\n2000: 2"]


def test_tabs_divide_and_quotes_are_letters_in_tsv(here: Read) -> None:
    [item] = good(here("a.tsv", 'id\ttext\nq1\t"Yes, he said\n'))
    assert (item.id, item.text) == ("q1", '"Yes, he said')


def test_rows_without_id_or_text_are_refused_by_line(here: Read) -> None:
    items = here("a.csv", "id,text\n,x\n3, \n4,good\n5\n")
    assert [item.id for item in good(items)] == ["4"]
    assert refused(items) == {
        "a.csv:2": 'the cell "id" is empty: every row needs an id',
        "a.csv:3": 'the cell "text" is empty',
        "a.csv:5": 'the cell "text" is empty',
    }


def test_a_huge_line_is_passed_over_and_a_quote_never_closed_ends_the_file(here: Read) -> None:
    items = here("a.csv", f"id,text\n1,a\n2,{'x' * 5000}\n3,c\n", line_bytes=1000)
    assert [item.id for item in good(items)] == ["1", "3"]
    assert "longer than 1,000 characters" in refused(items)["a.csv:3"]
    items = here("b.csv", 'id,text\n1,a\n2,"' + "x\n" * 5000, line_bytes=1000)
    assert [item.id for item in good(items)] == ["1"]
    assert "unclosed quote" in refused(items)["b.csv:3"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"\n \n", "no row"),
        (b"a,a\n1,2\n", "'a' twice"),
        (b"id,text\n1,a\0b\n", "NUL"),
        (b"\xff\xfea\x00\x00\xd8,", "utf-16"),
    ],
)
def test_what_is_no_table(here: Read, content: bytes, says: str) -> None:
    assert any(says in reason for reason in refused(here("a.csv", content)).values())


def test_tables_in_other_encodings_are_read_as_streams(here: Read) -> None:
    for encoding, note in (("utf-16", ()), ("cp1252", (("encoding", "windows-1252"),))):
        [item] = good(here("a.csv", "id,text\n1,Zoë\n".encode(encoding)))
        assert item.text == "Zoë"
        assert item.metadata == (*note, ("row", "2"))


def test_json_documents_one_many_and_squad(here: Read) -> None:
    assert here("a.json", '{"title": "T", "text": "x"}') == [Document("a.json", "T", "x")]
    assert here("a.json", '[{"id": 1, "text": "x"}, {"_id": "b", "text": "y", "metadata": {"k": 2}}]') == [
        Document("1", "", "x"),
        Document("b", "", "y", (("k", "2"),)),
    ]
    assert [item.id for item in good(here("a.json", '{"documents": [{"id": "d", "text": "x"}]}'))] == ["d"]
    squad = {"data": [{"title": "Normans", "paragraphs": [{"context": "One.", "qas": []}, {"context": " Two."}]}]}
    assert here("s.json", json.dumps(squad)) == [
        Document("Normans/1", "Normans", "One."),
        Document("Normans/2", "Normans", " Two."),
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("3", "a number without documents"),
        ('"text"', "text without documents"),
        ('{"name": "package"}', "without documents"),
        ("[]", "empty list"),
        ("[1]", "the item is a number"),
        ('[{"id": "x"}]', 'no "text"'),
        ('{"data": []}', "no paragraph"),
        ('{"data": [{"title": "t"}]}', "no list 'paragraphs'"),
        ("{not json", "not JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
        ('{"text": NaN}', "NaN is not a JSON number"),
        ('[{"id": "x", "text": "a", "metadata": {"n": -Infinity}}]', "-Infinity"),
        ("[" * 100_000, "nested too deeply"),
        ('{"text": ' * 100_000, "nested too deeply"),
        ('{"text": "half \\ud800"}', "surrogate"),
        (b'{"text": "caf\xe9"}', "must be UTF-8"),
        ('{"text": ' + "9" * 5000 + "}", "digits"),
    ],
)
def test_json_that_holds_no_document(here: Read, content: str | bytes, says: str) -> None:
    assert any(says in reason for reason in refused(here("a.json", content)).values())


def test_broken_lines_are_refused_by_number_and_the_others_read(here: Read) -> None:
    lines = (
        '{"id": "1", "text": "a"}\n{broken\n[]\n{"id": "2", "text": NaN}\n' + "[" * 100_000 + '\n{"id": 3, "text": "z"}'
    )
    items = here("a.jsonl", lines)
    assert [item.id for item in good(items)] == ["1", "3"]
    assert list(refused(items)) == ["a.jsonl:2", "a.jsonl:3", "a.jsonl:4", "a.jsonl:5"]
