"""Stored queries that are older than an age are permanently deleted. By default none is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import insert, select

from app.errors import UsageError
from app.home.query_age import parse_age, prune_queries
from app.jobs.worker import Worker
from data.columns import utc_now
from data.schema import queries
from data.store import Store

Typed = Callable[..., SimpleNamespace]


def keep(store: Store, **ages: timedelta) -> None:
    with store.write() as connection:
        connection.execute(
            insert(queries),
            [
                {
                    "id": name,
                    "question": f"question {name} xyzzy",
                    "params": {},
                    "answer": {},
                    "created_at": utc_now() - age,
                }
                for name, age in ages.items()
            ],
        )


def names(store: Store) -> set[str]:
    """Return the IDs of the queries that these tests store. A copied home may contain other recent queries."""
    with store.read() as connection:
        found = connection.execute(select(queries.c.id).where(queries.c.question.like("% xyzzy")))
        return set(found.scalars())


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        yield opened


def test_ages() -> None:
    assert [parse_age(text).total_seconds() for text in ("12h", "90d", " 4w ", "0h")] == [43200, 7776000, 2419200, 0]
    for bad in ("", "90", "d", "-1d", "1.5d", "٣d", "90 d", "1y", "9999999d"):
        with pytest.raises(UsageError, match="the age"):
            parse_age(bad)


def test_older_ones_go_and_newer_ones_stay(store: Store) -> None:
    keep(store, old=timedelta(days=91), older=timedelta(days=400), young=timedelta(days=89), new=timedelta())
    assert prune_queries(store, timedelta(days=90)) == 2
    assert names(store) == {"young", "new"}
    assert prune_queries(store, timedelta(days=90)) == 0


def test_many_go_in_several_steps(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.home.query_age._BATCH_SIZE", 3)
    keep(store, **{f"q{n}": timedelta(days=2) for n in range(10)})
    assert prune_queries(store, timedelta(days=1)) == 10


def test_the_file_holds_nothing_of_them_any_more(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with Store.open(f"sqlite:///{path}") as store:
        keep(store, secret=timedelta(days=2))
        prune_queries(store, timedelta(days=1))
    assert b"question secret" not in path.read_bytes()


def test_the_command_says_how_many(home_copy: Path, typed: Typed) -> None:
    with Store.open(f"sqlite:///{home_copy / 'plumbline.db'}") as store:
        keep(store, old=timedelta(days=91), new=timedelta())
        assert "deleted 1 stored" in typed("prune", "--queries", "90d", "--home", home_copy).err
        assert names(store) == {"new"}
    assert typed("prune", "--queries", "soon", "--home", home_copy).code == 2
    assert typed("prune", "--home", home_copy).code == 2


@pytest.mark.parametrize(("days", "left"), [(0.0, {"old", "new"}), (90.0, {"new"})])
def test_the_worker_does_it_where_the_settings_say_so(
    make_pipeline: Any, make_settings: Any, home_copy: Path, days: float, left: set[str]
) -> None:
    pipeline = make_pipeline(make_settings(home_copy, keep_queries_days=days))
    keep(pipeline.store, old=timedelta(days=91), new=timedelta())
    Worker(pipeline).tidy()
    assert names(pipeline.store) == left
