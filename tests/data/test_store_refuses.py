import os
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from data import schema
from data.errors import DataError, SchemaVersionError, StoreBusyError
from data.schema import SCHEMA_VERSION, meta
from data.store import Store
from tests.data.stored_vectors import count, url_of, vector


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "er" / "plumbline.db"


def set_version(path: Path, version: str) -> None:
    with Store.open(url_of(path)) as store, store.write() as connection:
        connection.execute(update(meta).where(meta.c.key == "schema_version").values(value=version))


def test_another_schema_version_is_named_and_nothing_is_touched(path: Path) -> None:
    set_version(path, "999")
    before = path.read_bytes()
    with pytest.raises(SchemaVersionError) as caught:
        Store.open(url_of(path))
    assert "version 999" in str(caught.value)
    assert f"version {SCHEMA_VERSION}" in str(caught.value)
    assert str(path) in str(caught.value)
    assert "move" in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("table", ["CREATE TABLE other (x)", "CREATE TABLE meta (x)", "CREATE TABLE meta (key, value)"])
def test_the_database_of_another_program_is_left_alone(tmp_path: Path, table: str) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute(table)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DataError, match="belongs to another program"):
        Store.open(url_of(path))
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are notes, and they are long enough to fill a database header. " * 20)
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"notes\.txt"):
        Store.open(url_of(path))
    assert path.read_bytes() == before


def test_a_damaged_database_says_so(path: Path) -> None:
    with Store.open(url_of(path)) as store, store.write() as connection:
        connection.execute(insert(schema.vectors), [vector(i, 3000) for i in range(200)])
    content = bytearray(path.read_bytes())
    for page in range(20, len(content) // 4096):
        content[page * 4096 : page * 4096 + 100] = b"\xff" * 100
    path.write_bytes(content)
    with pytest.raises(DataError, match="damaged"), Store.open(url_of(path)) as store, store.read() as connection:
        connection.execute(select(schema.vectors)).all()


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_database_locked_by_another_program_is_a_busy_error(path: Path, lock: str) -> None:
    with Store.open(url_of(path), busy_timeout_s=0.05) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute(lock)
        try:
            with pytest.raises(StoreBusyError, match=r"plumbline\.db stayed locked for 0\.05 seconds"), store.write():
                pass
        finally:
            other.close()
        with store.write() as connection:
            connection.execute(insert(schema.vectors), [vector(1)])


def test_a_second_store_and_a_second_thread_wait_no_longer_than_they_should(path: Path) -> None:
    with Store.open(url_of(path), busy_timeout_s=0.05) as store, Store.open(url_of(path), busy_timeout_s=0.05) as other:
        caught: list[BaseException] = []

        def attempt() -> None:
            try:
                with store.write():
                    pass
            except StoreBusyError as error:
                caught.append(error)

        with store.write():
            with pytest.raises(StoreBusyError), other.write():
                pass
            thread = threading.Thread(target=attempt)
            thread.start()
            thread.join()
        assert len(caught) == 1
        with other.write():
            pass


def test_too_many_readers_at_once_are_a_busy_error(path: Path) -> None:
    with Store.open(url_of(path), busy_timeout_s=0.05) as store, ExitStack() as stack:
        for _ in range(16):
            stack.enter_context(store.read())
        with pytest.raises(StoreBusyError, match="16 reading connections"), store.read():
            pass


def test_a_full_disk_keeps_nothing_of_the_step(path: Path) -> None:
    with Store.open(url_of(path)) as store:
        with store.write() as connection:
            connection.execute(insert(schema.vectors), [vector(1)])
        with store.write() as connection:  # SQLite's way to simulate a small disk
            connection.exec_driver_sql("PRAGMA max_page_count = 60")
        with pytest.raises(DataError, match="no space left") as caught, store.write() as connection:
            connection.execute(insert(schema.vectors), [vector(i, 10_000) for i in range(2, 60)])
        assert str(path) in str(caught.value)
        assert count(store) == 1
        with store.write() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 100000")
            connection.execute(insert(schema.vectors), [vector(2)])
        assert count(store) == 2


@contextmanager
def as_nobody() -> Iterator[None]:
    """Run as another user, because root may write read-only files."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def public() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


def test_a_read_only_file_and_folder(public: Path) -> None:
    path = public / "plumbline.db"
    with as_nobody():
        Store.open(url_of(path)).close()
        path.chmod(0o444)
        # The lock file is still writable, so the error comes from SQLite.
        with (
            Store.open(url_of(path)) as store,
            pytest.raises(DataError, match=r"plumbline\.db is read-only"),
            store.write() as connection,
        ):
            connection.execute(insert(schema.vectors), [vector(1)])
        path.with_name("plumbline.db.lock").chmod(0o444)
        with (
            Store.open(url_of(path)) as store,
            pytest.raises(DataError, match="cannot write to the database"),
            store.write(),
        ):
            pass
        (public / "closed").mkdir(mode=0o555)
        with pytest.raises(DataError, match="cannot be opened"):
            Store.open(url_of(public / "closed" / "x.db"))
        with pytest.raises(DataError, match=r"folder of the database .* cannot be created"):
            Store.open(url_of(public / "closed" / "in" / "x.db"))
        path.chmod(0o000)
        with pytest.raises(DataError, match="cannot be opened"):
            Store.open(url_of(path))


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DataError, match=r"plumbline-rag\[postgresql\]"):
        Store.open("postgresql+psycopg://u@host/x")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "cannot be read"),
        ("plumbline.db", "cannot be read"),
        ("postgresql://u:geheim@host:port/x", "cannot be read"),
        ("mysql://u:geheim@host/x", "'mysql' are not supported"),
        ("sqlite+aiosqlite:///x.db", "not supported"),
        ("sqlite://", "not a regular file"),
        ("sqlite:///:memory:", "not a regular file"),
        ("sqlite:///file:x?mode=memory&uri=true", "not a regular file"),
        ("sqlite:////", "is a folder"),
        ("postgresql+nodriver://u:geheim@host/x", "not installed"),
    ],
)
def test_bad_urls_say_what_to_write_and_keep_passwords(url: str, says: str) -> None:
    with pytest.raises(DataError, match=says) as caught:
        Store.open(url)
    assert "geheim" not in str(caught.value)
