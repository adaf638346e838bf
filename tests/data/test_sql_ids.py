"""Rows of two queries may have the same IDs: the ID of the second gets the prefix of its database and table."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from data.document_loader import iter_documents
from data.documents import Document
from data.refused import Refused
from data.sources import SqlSource, parse_source


def _database(path: Path, **tables: list[str]) -> str:
    with sqlite3.connect(path) as connection:
        for name, texts in tables.items():
            connection.execute(f"create table {name} (id integer primary key, text text)")
            connection.executemany(f"insert into {name} (text) values (?)", [(text,) for text in texts])
    return f"sqlite:///{path}"


def _read(*sources: Path | SqlSource) -> tuple[dict[str, str], list[Refused]]:
    items = list(iter_documents(sources))
    documents = {item.id: item.text for item in items if isinstance(item, Document)}
    return documents, [item for item in items if isinstance(item, Refused)]


def _query(text: str) -> SqlSource:
    source = parse_source(text)
    assert isinstance(source, SqlSource)
    return source


def test_two_tables_with_the_same_ids_are_both_kept(tmp_path: Path) -> None:
    url = _database(tmp_path / "yard.db", pumps=["A pump.", "A second pump."], valves=["A valve."])
    documents, refused = _read(*(_query(f"sql:{url} SELECT id, text FROM {table}") for table in ("pumps", "valves")))
    assert documents == {"1": "A pump.", "2": "A second pump.", "yard.db:valves#1": "A valve."}
    assert [item.kind for item in refused] == ["note"]


def test_two_queries_of_one_table_have_names_of_their_own(tmp_path: Path) -> None:
    url = _database(tmp_path / "yard.db", pumps=["A pump."])
    queries = [_query(f"sql:{url} SELECT id, text || '{mark}' AS text FROM pumps") for mark in "xyz"]
    documents, _ = _read(*queries)
    assert documents == {"1": "A pump.x", "yard.db:pumps-2#1": "A pump.y", "yard.db:pumps-3#1": "A pump.z"}


def test_a_row_with_the_id_of_a_file_row_is_kept(tmp_path: Path) -> None:
    url = _database(tmp_path / "yard.db", pumps=["A pump."])
    table = tmp_path / "parts.csv"
    table.write_text("id,text\n1,A gasket.\n", encoding="utf-8")
    documents, _ = _read(table, _query(f"sql:{url} SELECT id, text FROM pumps"))
    assert documents == {"1": "A gasket.", "yard.db:pumps#1": "A pump."}


def test_an_id_twice_in_one_query_is_refused(tmp_path: Path) -> None:
    url = _database(tmp_path / "yard.db", pumps=["A pump.", "B pump."])
    documents, refused = _read(_query(f"sql:{url} SELECT 7 AS id, text FROM pumps"))
    assert documents == {"7": "A pump."} and [item.kind for item in refused] == ["part"]


def test_the_name_of_a_source_has_no_password() -> None:
    assert (
        _query("sql:postgresql://ann:secret@host/shop?password=secret SELECT id, text FROM stock s").label
        == "shop:stock"
    )
