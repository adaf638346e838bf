"""A database file that is deleted, moved or replaced while it is open is neither read nor written."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text

from data.errors import DataError
from data.schema import meta
from data.store import Store


def delete(path: Path) -> None:
    path.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("moved.db"))


def replace(path: Path) -> None:
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    copy.rename(path)


def move_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


def lose_log(path: Path) -> None:
    path.with_name(f"{path.name}-wal").unlink()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "plumbline.db"


@pytest.mark.parametrize("harm", [delete, move, replace, move_folder])
def test_reading_and_writing_are_refused(path: Path, harm: Callable[[Path], None]) -> None:
    with Store.open(f"sqlite:///{path}") as store:
        harm(path)
        with pytest.raises(DataError, match=str(path)), store.write() as connection:
            connection.execute(insert(meta).values(key="a", value="b"))
        with pytest.raises(DataError, match=str(path)), store.read() as connection:
            connection.execute(select(meta))
        with pytest.raises(DataError, match=str(path)):
            store.check()


def test_a_write_whose_log_is_gone_is_refused(path: Path) -> None:
    with Store.open(f"sqlite:///{path}") as store:
        with store.write() as connection:
            connection.execute(insert(meta).values(key="a", value="b"))
        lose_log(path)
        with pytest.raises(DataError, match=str(path)), store.write() as connection:
            connection.execute(insert(meta).values(key="c", value="d"))


@pytest.mark.parametrize("harm", [delete, move, replace])
def test_what_is_taken_away_in_the_middle_of_a_write_is_not_reported_as_kept(
    path: Path, harm: Callable[[Path], None]
) -> None:
    with Store.open(f"sqlite:///{path}") as store:  # noqa: SIM117 - the order is the point
        with pytest.raises(DataError, match=str(path)), store.write() as connection:
            connection.execute(insert(meta).values(key="a", value="b"))
            harm(path)


def test_what_is_put_back_is_used_again(path: Path) -> None:
    with Store.open(f"sqlite:///{path}") as store:
        move(path)
        with pytest.raises(DataError), store.read():
            pass
        path.with_name("moved.db").rename(path)
        with store.write() as connection:
            connection.execute(insert(meta).values(key="a", value="b"))
        with store.read() as connection:
            assert connection.scalar(select(meta.c.value).where(meta.c.key == "a")) == "b"


def test_tables_that_are_gone_are_a_data_error(path: Path) -> None:
    with Store.open(f"sqlite:///{path}") as store:
        with store.write() as connection:
            connection.execute(text("DROP TABLE meta"))
        with pytest.raises(DataError, match="no such table"), store.read() as connection:
            connection.execute(select(meta))
        with pytest.raises(DataError, match="no such table"), store.write() as connection:
            connection.execute(insert(meta).values(key="a", value="b"))
