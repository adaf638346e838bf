from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from data.documents import Document
from data.errors import DataError
from data.loaders import Refused, iter_documents
from data.sources import SqlSource, parse_source


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "notes.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE notes (number INTEGER, heading TEXT, body TEXT, year INTEGER, scan BLOB)")
        connection.executemany(
            "INSERT INTO notes VALUES (?, ?, ?, ?, ?)",
            [(1, "Pump", "It pumps.", 1999, None), (2, None, "Hose: ' :x %s", None, b"\0"), (3, "T", None, 1, None)],
        )
    connection.close()
    return path


def source(database: Path, query: str) -> SqlSource:
    found = parse_source(f"sql:sqlite:///{database} {query}")
    assert isinstance(found, SqlSource)
    return found


def test_rows_are_documents_and_other_columns_metadata(database: Path) -> None:
    query = "SELECT number AS ID, heading AS title, body AS text, year FROM notes WHERE body LIKE '% %' OR ':x' = 'y'"
    assert list(iter_documents([source(database, query)])) == [
        Document("1", "Pump", "It pumps.", (("year", "1999"),)),
        Document("2", "", "Hose: ' :x %s"),
    ]


def test_bad_rows_are_refused_by_number_and_column(database: Path) -> None:
    items = list(iter_documents([source(database, "SELECT number id, body text, scan FROM notes")]))
    assert [item.id for item in items if isinstance(item, Document)] == ["1"]
    second, third = (item for item in items if isinstance(item, Refused))
    assert second.where.endswith("row 2")
    assert '"scan" is binary (1 bytes)' in second.reason
    assert '"text" is null' in third.reason


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELECT number AS id, body FROM notes", "no column 'text', it gives id, body"),
        ("SELECT number AS id, body AS text, year AS id FROM notes", "the column 'id' twice"),
        ("SELECT number AS id, body AS text FROM nowhere", "no such table: nowhere"),
        ("SELEC 1", "must be a SELECT"),
        ("DELETE FROM notes", "must be a SELECT"),
        ("WITH x AS (SELECT 1) DELETE FROM notes", "attempt to write a readonly database|does not return rows"),
    ],
)
def test_a_bad_query_is_an_error_and_writes_nothing(database: Path, query: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        list(iter_documents([source(database, query)]))
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM notes").fetchone() == (3,)
    connection.close()


def test_a_missing_database_is_not_made_and_is_said_before_anything_is_read(tmp_path: Path) -> None:
    for text, says in (
        (f"sql:sqlite:///{tmp_path}/none.db SELECT 1", "no database file"),
        ("sql:sqlite:// SELECT 1", "no database file"),
        ("sql:nosuch://x/y SELECT 1", "not a database URL"),
    ):
        parsed = parse_source(text)
        with pytest.raises(DataError, match=says):
            iter_documents([parsed])
    assert not list(tmp_path.iterdir())


def test_names_of_sources() -> None:
    assert parse_source("a/b.txt") == Path("a/b.txt")
    assert parse_source("./sql:x") == Path("./sql:x")
    for bad in ("sql:", "sql:sqlite:///x.db", "sql:SELECT 1"):
        with pytest.raises(DataError, match="not a database source"):
            parse_source(bad)


def test_a_password_is_never_shown() -> None:
    for url in ("postgresql://u:hunter2@h/db", "postgresql://h/db?user=u&password=hunter2"):
        found = parse_source(f"sql:{url} SELECT id, text FROM t")
        assert isinstance(found, SqlSource)
        assert "hunter2" not in found.shown
        assert "h/db" in found.shown
        with pytest.raises(DataError) as error:
            parse_source(f"sql:{url}")
        assert "hunter2" not in str(error.value)


def test_databases_and_files_together_name_both_places_of_an_id(database: Path, tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('\n{"id": 1, "text": "x"}\n')
    items = list(iter_documents([tmp_path / "d.jsonl", source(database, "SELECT 1 AS id, 'y' AS text")]))
    assert isinstance(items[1], Refused)
    assert f"{tmp_path}/d.jsonl:2" in items[1].reason
