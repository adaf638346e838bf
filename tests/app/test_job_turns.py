"""Fair scheduling of jobs: a tenant with many jobs does not delay the others."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from app.jobs.job_store import JobStore
from app.jobs.leases import JobLeases
from data.columns import utc_now
from data.store import Store


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        yield opened


class Clock:
    def __init__(self) -> None:
        self.now = utc_now()

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def submit(store: Store, tenant: str, name: str) -> None:
    JobStore(store).submit(uuid.uuid4().hex, "evaluate", tenant, {"name": name}, request_sha256="s")


def done_in_order(store: Store, clock: Clock, count: int) -> list[str]:
    leases = JobLeases(store, "worker", now=clock)
    names = []
    for _ in range(count):
        job = leases.take()
        assert job is not None
        names.append(str(job.request["name"]))
        leases.renew(job.id, ())
        assert leases.end(job.id, "succeeded", result={})
    return names


def test_one_job_of_each_in_turn(store: Store) -> None:
    for n in range(4):
        submit(store, "acme", f"a{n}")
    for n in range(2):
        submit(store, "globex", f"g{n}")
    submit(store, "", "own")
    found = done_in_order(store, Clock(), 7)
    assert set(found[:3]) == {"a0", "g0", "own"}
    assert set(found[3:5]) == {"a1", "g1"}
    assert found[5:] == ["a2", "a3"]


def test_a_newcomer_comes_next(store: Store) -> None:
    clock = Clock()
    for n in range(5):
        submit(store, "acme", f"a{n}")
    assert done_in_order(store, clock, 2) == ["a0", "a1"]
    submit(store, "late", "first")
    submit(store, "late", "second")
    assert done_in_order(store, clock, 5) == ["first", "a2", "second", "a3", "a4"]


def test_two_workers_take_from_two_tenants(store: Store) -> None:
    clock = Clock()
    for n in range(3):
        submit(store, "acme", f"a{n}")
    submit(store, "globex", "g0")
    taken = [JobLeases(store, f"worker {n}", now=clock).take() for n in range(2)]
    assert {job.tenant for job in taken if job} == {"acme", "globex"}
