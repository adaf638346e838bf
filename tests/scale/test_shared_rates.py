"""Rate limits that several processes count together."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import pytest
from sqlalchemy import func, select, text

from app.home.bucket_age import prune_buckets
from app.service.http.rates import RateLimiter
from app.service.http.shared_rates import SharedRateLimiter, open_rates
from data.schema import rate_buckets
from data.store import Store

pytestmark = pytest.mark.scale

MARGIN_S = 25.0
"""A bucket of two a minute refills one unit in 30 s: what a test does in less time finds none."""


@pytest.fixture
def stores(database_url: str) -> Iterator[tuple[Store, Store]]:
    with Store.open(database_url) as one, Store.open(database_url) as two:
        yield one, two


@pytest.fixture
def pair(stores: tuple[Store, Store]) -> tuple[SharedRateLimiter, SharedRateLimiter]:
    return SharedRateLimiter(lambda: stores[0]), SharedRateLimiter(lambda: stores[1])


def test_two_processes_take_from_one_bucket(pair: tuple[SharedRateLimiter, SharedRateLimiter]) -> None:
    one, two = pair
    assert one.take("a", 2) == two.take("a", 2) == 0.0
    assert MARGIN_S < two.take("a", 2) <= 30.0
    assert MARGIN_S < one.wait("a", 2) <= 30.0
    assert one.take("b", 2) == 0.0  # another key has its own
    assert one.wait("c", 2) == 0.0


def test_what_one_process_owes_the_other_waits_for(pair: tuple[SharedRateLimiter, SharedRateLimiter]) -> None:
    one, two = pair
    one.charge("a", 60, 90.0)  # 30 more than there were
    assert 25.0 < one.take("a", 60) <= 31.0
    assert 25.0 < two.take("a", 60) <= 31.0


def test_an_amount_above_a_minutes_worth_waits_for_a_full_bucket(
    pair: tuple[SharedRateLimiter, SharedRateLimiter],
) -> None:
    one, two = pair
    assert one.take("a", 60, 120.0) == 0.0
    assert 115.0 < two.take("a", 60, 120.0) <= 120.0


def test_the_same_answers_as_the_limiter_of_one_process(pair: tuple[SharedRateLimiter, SharedRateLimiter]) -> None:
    alone = RateLimiter()
    for per_minute, amounts in ((5, (1, 2, 2, 1, 9)), (3, (4, 1)), (100, (30, 30, 30, 30, 200))):
        for number, amount in enumerate(amounts):
            pair[number % 2].charge(f"{per_minute} owed", per_minute, amount)
            alone.charge(f"{per_minute} owed", per_minute, amount)
            expected = alone.take(str(per_minute), per_minute, amount)
            assert pair[number % 2].take(str(per_minute), per_minute, amount) == pytest.approx(expected, abs=5.0)
        pair[1]._settle(), pair[0]._settle()
        assert pair[0].wait(f"{per_minute} owed", per_minute) == pytest.approx(
            alone.wait(f"{per_minute} owed", per_minute), abs=5.0
        )


def test_requests_at_once_get_the_limit_and_no_more(pair: tuple[SharedRateLimiter, SharedRateLimiter]) -> None:
    began = monotonic()
    with ThreadPoolExecutor(8) as threads:
        waits = list(threads.map(lambda n: pair[n % 2].take("a", 20), range(60)))
    refilled = (monotonic() - began) / 3 + 1
    assert 20 <= waits.count(0.0) <= 20 + refilled


def test_full_buckets_are_removed(stores: tuple[Store, Store], pair: tuple[SharedRateLimiter, ...]) -> None:
    pair[0].take("spent", 2)
    pair[0].take("full", 2)
    with stores[0].write() as connection:
        connection.execute(text("UPDATE rate_buckets SET full_at = now() - interval '1 second' WHERE name = 'full'"))
    assert prune_buckets(stores[1]) == 1
    with stores[0].read() as connection:
        assert connection.execute(select(rate_buckets.c.name)).scalars().all() == ["spent"]
        assert connection.execute(select(func.count()).select_from(rate_buckets)).scalar_one() == 1


def test_a_database_of_one_machine_needs_no_rows(database_url: str) -> None:
    class Pipe:
        class settings:  # noqa: N801 - as Pipeline has it
            database_url = "sqlite:///x.db"

    assert isinstance(open_rates(Pipe()), RateLimiter)  # type: ignore[arg-type]
    Pipe.settings.database_url = database_url
    assert isinstance(open_rates(Pipe()), SharedRateLimiter)  # type: ignore[arg-type]
