import fcntl
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import delete, func, insert, select, text
from sqlalchemy.exc import IntegrityError, OperationalError

from data import schema
from data.errors import DataError
from data.schema import meta
from data.sqlite import writer_lock
from data.store import Store
from tests.data.stored_vectors import count, url_of, vector

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "er" / "plumbline.db"


def test_the_folder_is_made_and_what_is_committed_is_there_after_reopening(path: Path) -> None:
    with Store.open(url_of(path)) as store:
        assert store.path == path
        with store.write() as connection:
            connection.execute(insert(schema.vectors), [vector(1)])
    with Store.open(url_of(path)) as store:
        assert count(store) == 1
        with store.write() as connection:
            pragmas = [
                connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in ("journal_mode", "foreign_keys", "synchronous", "busy_timeout")
            ]
        assert pragmas == ["wal", 1, 2, 30_000]


def test_a_relative_database_stays_the_same_file_when_the_process_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with Store.open("sqlite:///here.db") as store:
        monkeypatch.chdir(tmp_path / "other")
        with store.write() as connection:
            connection.execute(insert(schema.vectors), [vector(1)])
        assert count(store) == 1
    assert list((tmp_path / "other").iterdir()) == []


def test_an_error_in_the_block_rolls_back(path: Path) -> None:
    with Store.open(url_of(path)) as store:
        for error in (ZeroDivisionError, KeyboardInterrupt):
            with pytest.raises(error), store.write() as connection:
                connection.execute(insert(schema.vectors), [vector(1)])
                raise error
        assert count(store) == 0
        with store.write() as connection:  # the next writer can continue
            connection.execute(insert(schema.vectors), [vector(2)])
        assert count(store) == 1


def test_a_reader_sees_one_state_while_a_writer_commits(path: Path) -> None:
    with Store.open(url_of(path)) as store:
        with store.write() as connection:
            connection.execute(insert(schema.vectors), [vector(1)])
            assert count(store) == 0  # not committed yet
        with store.read() as reader:
            counting = select(func.count()).select_from(schema.vectors)
            assert reader.scalar(counting) == 1
            with store.write() as connection:
                connection.execute(insert(schema.vectors), [vector(2)])
            assert reader.scalar(counting) == 1
        assert count(store) == 2


def test_a_reader_cannot_write(path: Path) -> None:
    with Store.open(url_of(path)) as store:
        with pytest.raises(OperationalError, match="readonly"), store.read() as connection:
            connection.execute(insert(schema.vectors), [vector(1)])
        assert count(store) == 0


def test_write_inside_write_is_an_error_and_not_a_wait(path: Path) -> None:
    with (
        Store.open(url_of(path)) as store,
        store.write(),
        pytest.raises(RuntimeError, match="inside"),
        store.write(),
    ):
        pass


def test_a_mistake_of_ours_is_not_dressed_up_as_the_users(path: Path) -> None:
    with Store.open(url_of(path)) as store:
        with pytest.raises(IntegrityError), store.write() as connection:
            connection.execute(insert(schema.vectors), [vector(1), vector(1)])
        with pytest.raises(OperationalError), store.read() as connection:
            connection.execute(text("SELECT nonsense"))


def test_a_closed_store_says_so(path: Path) -> None:
    store = Store.open(url_of(path))
    store.close()
    store.close()
    with pytest.raises(DataError, match="closed"), store.read():
        pass
    with pytest.raises(DataError, match="closed"), store.write():
        pass
    assert not path.with_name("plumbline.db-wal").exists()  # closing the last connection wrote the log to the database


def python(code: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


@pytest.mark.drill
def test_processes_make_the_tables_once_and_take_turns(path: Path) -> None:
    # Three processes open the same new database at once. Each adds 40 rows and increments a shared number.
    code = """
import sys
from sqlalchemy import insert, select, update
from data import schema
from data.schema import meta
from data.sqlite import writer_lock
from data.store import Store
sys.stdin.readline()
with Store.open(sys.argv[1]) as store:
    for i in range(40):
        with store.write() as c:
            n = c.scalar(select(meta.c.value).where(meta.c.key == "n"))
            if n is None:
                c.execute(insert(meta).values(key="n", value="1"))
            else:
                c.execute(update(meta).where(meta.c.key == "n").values(value=str(int(n) + 1)))
            c.execute(insert(schema.vectors).values(encoder=sys.argv[2], text_sha256=str(i), vector=b"v"))
"""
    processes = [python(code, url_of(path), str(i)) for i in range(3)]
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0, 0, 0]
    with Store.open(url_of(path)) as store:
        assert count(store) == 120
        with store.read() as connection:
            assert connection.scalar(select(meta.c.value).where(meta.c.key == "n")) == "120"
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"


def test_a_process_killed_in_the_middle_of_a_transaction_leaves_nothing_of_it_and_no_lock(path: Path) -> None:
    code = """
import os, signal, sys
from sqlalchemy import insert
from data import schema
from data.store import Store
store = Store.open(sys.argv[1])
with store.write() as c:
    c.execute(insert(schema.vectors).values(encoder="e", text_sha256="kept", vector=b"v"))
with store.write() as c:
    # 3 MB is more than SQLite's page cache holds, so pages of the open transaction are on disk already.
    c.execute(insert(schema.vectors), [dict(encoder="e", text_sha256=str(i), vector=bytes(30000)) for i in range(100)])
    os.kill(os.getpid(), signal.SIGKILL)
"""
    process = python(code, url_of(path))
    process.communicate(timeout=60)
    assert process.returncode == -9
    with Store.open(url_of(path), busy_timeout_s=1) as store:
        assert count(store) == 1
        with store.write() as connection:
            connection.execute(delete(schema.vectors))


def test_whoever_waits_is_next_even_if_the_writer_wants_another_turn_at_once(tmp_path: Path) -> None:
    database = tmp_path / "x.db"
    order: list[str] = []

    def wait() -> None:
        with writer_lock(database, 30):
            order.append("waiting")

    with writer_lock(database, 30):
        thread = threading.Thread(target=wait)
        thread.start()
        with (tmp_path / "x.db.queue").open("ab") as queue:
            deadline = time.monotonic() + 30
            while True:  # until the thread is at the head of the queue
                try:
                    fcntl.flock(queue, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    break
                fcntl.flock(queue, fcntl.LOCK_UN)
                assert time.monotonic() < deadline
    with writer_lock(database, 30):
        order.append("again")
    thread.join()
    assert order == ["waiting", "again"]
