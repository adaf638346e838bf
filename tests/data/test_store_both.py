"""Guarantees of the store on both databases, SQLite and PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import DBAPIError

from data.schema import meta, vectors
from data.store import Store
from tests.data.stored_vectors import count, vector


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        yield opened


def test_what_is_committed_is_there_after_reopening(database_url: str) -> None:
    with Store.open(database_url) as store, store.write() as connection:
        connection.execute(insert(vectors), [vector(1)])
    with Store.open(database_url) as store:
        assert count(store) == 1


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_in_the_block_rolls_back_and_the_next_writer_gets_its_turn(
    store: Store, error: type[BaseException]
) -> None:
    with pytest.raises(error), store.write() as connection:
        connection.execute(insert(vectors), [vector(1)])
        raise error
    assert count(store) == 0
    with store.write() as connection:
        connection.execute(insert(vectors), [vector(2)])
    assert count(store) == 1


def test_a_reader_sees_one_state_while_a_writer_commits(store: Store) -> None:
    with store.write() as connection:
        connection.execute(insert(vectors), [vector(1)])
        assert count(store) == 0
    with store.read() as reader:
        counting = select(func.count()).select_from(vectors)
        assert reader.scalar(counting) == 1
        with store.write() as connection:
            connection.execute(insert(vectors), [vector(2)])
        assert reader.scalar(counting) == 1
    assert count(store) == 2


def test_a_reader_cannot_write(store: Store) -> None:
    with pytest.raises(DBAPIError, match=r"readonly|read-only"), store.read() as connection:
        connection.execute(insert(vectors), [vector(1)])
    assert count(store) == 0


def test_threads_take_turns_and_none_loses_an_update(store: Store) -> None:
    with store.write() as connection:
        connection.execute(insert(meta).values(key="n", value="0"))

    def add() -> None:
        for _ in range(20):
            with store.write() as connection:
                n = int(connection.scalar(select(meta.c.value).where(meta.c.key == "n")) or 0)
                connection.execute(update(meta).where(meta.c.key == "n").values(value=str(n + 1)))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.read() as connection:
        assert connection.scalar(select(meta.c.value).where(meta.c.key == "n")) == "80"
