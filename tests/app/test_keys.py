"""API keys in the database, and the token buckets of rate limits."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from app.accounts.keys import KeyLimits, KeyStore
from app.errors import AppError
from app.service.http.rates import RateLimiter
from data.columns import utc_now
from data.schema import api_keys
from data.store import Store


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        yield opened


@pytest.fixture
def keys(store: Store) -> KeyStore:
    return KeyStore(store)


def test_a_key_is_recognised_and_its_secret_is_stored_nowhere(keys: KeyStore, store: Store) -> None:
    made = keys.create("alice", ["query", "index"], tenant="acme", limits=KeyLimits(requests_per_minute=5))
    assert keys.authenticate(made.secret) == made.key
    assert keys.list() == (made.key,)
    assert made.key.limits.requests_per_minute == 5
    with store.read() as connection:
        row = connection.execute(select(api_keys)).mappings().one()
    assert made.secret.split("-", 2)[2] not in repr(dict(row))


def test_what_is_not_the_secret_is_not_recognised(keys: KeyStore) -> None:
    made = keys.create("alice", ["query"])
    other = keys.create("bob", ["query"])
    swapped = "-".join([*made.secret.split("-")[:2], other.secret.split("-", 2)[2]])
    for wrong in ("", "pl-", "sk-123", made.secret[:-1], made.secret + "x", made.secret.upper(), swapped, "é" * 63):
        assert keys.authenticate(wrong) is None


def test_a_revoked_and_an_expired_key_open_nothing(keys: KeyStore, store: Store) -> None:
    made = keys.create("alice", ["query"])
    later = keys.create("bob", ["query"], expires_at=utc_now() + timedelta(hours=1))
    assert keys.revoke("alice").revoked_at is not None
    assert keys.authenticate(made.secret) is None
    with pytest.raises(AppError, match="'alice'"):
        keys.revoke("alice")
    assert keys.authenticate(later.secret) is not None
    with store.write() as connection:
        connection.execute(update(api_keys).where(api_keys.c.id == later.key.id).values(expires_at=utc_now()))
    assert keys.authenticate(later.secret) is None
    assert not keys.any_active()
    again = keys.create("alice", ["query"])  # the name is free again
    assert keys.revoke(again.key.id).name == "alice"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"name": "a b"}, "a b.*key"),
        ({"name": ""}, "key"),
        ({"scopes": ["root"]}, "'root'.*admin"),
        ({"scopes": []}, "scope"),
        ({"tenant": "A/B"}, "A/B.*tenant"),
        ({"expires_at": utc_now() - timedelta(days=1)}, "expire"),
    ],
)
def test_a_bad_key_is_refused(keys: KeyStore, arguments: dict[str, object], says: str) -> None:
    given = {"name": "alice", "scopes": ["query"], **arguments}
    with pytest.raises(AppError, match=says):
        keys.create(given.pop("name"), given.pop("scopes"), **given)  # type: ignore[arg-type]
    assert keys.list() == ()


def test_two_keys_of_one_name_are_refused(keys: KeyStore) -> None:
    keys.create("alice", ["query"])
    with pytest.raises(AppError, match="'alice'"):
        keys.create("alice", ["admin"])


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(AppError, match=r"tokens_per_minute.*0"):
        KeyLimits(tokens_per_minute=0)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_gives_a_minutes_worth_at_once_and_then_what_flows_in() -> None:
    clock = Clock()
    rates = RateLimiter(clock)
    assert [rates.take("a", 3) for _ in range(3)] == [0.0, 0.0, 0.0]
    wait = rates.take("a", 3)
    assert wait == pytest.approx(20.0)
    assert rates.take("b", 3) == 0.0  # another key has its own
    clock.now += wait - 0.01
    assert rates.take("a", 3) > 0
    clock.now += 0.02
    assert rates.take("a", 3) == 0.0
    clock.now += 3600
    assert [rates.take("a", 3) > 0 for _ in range(4)] == [False, False, False, True]


def test_what_was_used_already_is_owed() -> None:
    clock = Clock()
    rates = RateLimiter(clock)
    rates.charge("a", 60, 90.0)  # 30 more than there were
    assert rates.take("a", 60) == pytest.approx(31.0)
    clock.now += 31.0
    assert rates.take("a", 60) == 0.0


def test_an_amount_above_a_minutes_worth_waits_for_a_full_bucket() -> None:
    clock = Clock()
    rates = RateLimiter(clock)
    assert rates.take("a", 60, 120.0) == 0.0
    assert rates.take("a", 60, 120.0) == pytest.approx(120.0)
