"""Delimiters of tables, and rows with another number of cells than the header."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from data.documents import Document
from data.loaders import Refused
from data.table_layout import NO_DELIMITER, table_layout

Read = Callable[..., list[Document | Refused]]


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n3,5;4\n", ";"),
        ("Name;Size, in cm;Price, net\nPump;4, about;1,50\n", ";"),
        ("a|b\n1, 2|3, 4\n", "|"),
        ("a\tb\n1,1\t2,2\n", "\t"),
        ('a,b\n"x; y; z",2\n"p;q",4\n', ","),
        ("note\nYes, of course.\nNo; never.\n", NO_DELIMITER),
        ("Notes, remarks\nNone so far.\nNone.\n", NO_DELIMITER),
        ("id,text\n1,Hello, world\n2,Bye\n", ","),
        ("a,b,c\n", ","),
        ("", NO_DELIMITER),
    ],
)
def test_the_delimiter_is_the_one_that_fits_the_rows(content: str, delimiter: str) -> None:
    layout = table_layout(content.splitlines(keepends=True), complete=True)
    assert (layout.delimiter, layout.declared) == (delimiter, False)


@pytest.mark.parametrize("mark", [";", "|", "\t", ",", "#"])
def test_excels_own_line_decides_and_is_no_row(here: Read, mark: str) -> None:
    [item] = here("a.csv", f"sep={mark}\r\nid{mark}text\r\n7{mark}Pump\r\n")
    assert isinstance(item, Document)
    assert (item.id, item.text, dict(item.metadata)["row"]) == ("7", "Pump", "3")


def test_one_column_keeps_its_commas(here: Read) -> None:
    items = here("a.csv", 'text\nFirst, second; third.\n"Quoted, ""so""."\n')
    assert [item.text for item in items if isinstance(item, Document)] == ["First, second; third.", 'Quoted, "so".']


def test_short_rows_lack_their_last_cells(here: Read) -> None:
    items = here("a.csv", "version,name,end\n1,Ara,2001\n2,Bora\n3\n")
    assert [item.text for item in items if isinstance(item, Document)] == [
        "version: 1\nname: Ara\nend: 2001",
        "version: 2\nname: Bora",
        "version: 3",
    ]
    assert not [item for item in items if isinstance(item, Refused)]


def test_long_rows_are_kept_and_noted(here: Read) -> None:
    items = here("a.csv", "id,text\n1,a,b\n2,c,,\n3,d\n")
    documents = [item for item in items if isinstance(item, Document)]
    assert [(item.id, item.text) for item in documents] == [("1", "a"), ("2", "c"), ("3", "d")]
    assert dict(documents[0].metadata)["column 3"] == "b"
    [expected] = [item for item in items if isinstance(item, Refused)]
    assert (expected.kind, expected.where.rpartition("/")[2]) == ("note", "a.csv:2")
