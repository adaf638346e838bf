"""Jobs in the database: visibility, leases, and recovery after a worker was killed."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.accounts.tenants import create_tenant_collection
from app.jobs.job import Job, JobStateError, KeyReusedError, Step
from app.jobs.job_store import JobStore
from app.jobs.leases import LEASE_S, MOST_ATTEMPTS, JobLeases
from data.columns import utc_now
from data.schema import collections
from data.store import Store


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        yield opened


class Clock:
    def __init__(self) -> None:
        self.now = utc_now()

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def submit(
    store: Store, tenant: str = "", key: str | None = None, sha: str = "s", collection: int | None = None
) -> Job:
    submitted = JobStore(store).submit(
        uuid.uuid4().hex,
        "index",
        tenant,
        {"uploads": []},
        request_sha256=sha,
        idempotency_key=key,
        collection_key=collection,
    )
    return submitted.job


def collection_key(store: Store, name: str) -> int:
    create_tenant_collection(store, "", name)
    with store.read() as connection:
        return connection.execute(select(collections.c.id).where(collections.c.name == name)).scalar_one()


def test_a_tenant_sees_its_own_jobs_only(store: Store) -> None:
    mine, theirs = submit(store, "acme"), submit(store, "globex")
    submitted = JobStore(store)
    assert submitted.get("acme", mine.id) == mine
    assert submitted.get("acme", theirs.id) is None
    assert submitted.list("acme") == (mine,)
    assert submitted.cancel("acme", theirs.id) is None
    assert submitted.retry("acme", theirs.id) is None
    assert submitted.get("globex", theirs.id) == theirs


def test_the_same_request_under_the_same_key_is_the_same_job(store: Store) -> None:
    first = submit(store, "acme", "k1")
    again = JobStore(store).submit("other", "index", "acme", {}, request_sha256="s", idempotency_key="k1")
    assert (again.job, again.new) == (first, False)
    with pytest.raises(KeyReusedError, match="'k1'"):
        submit(store, "acme", "k1", sha="different")
    assert submit(store, "globex", "k1", sha="different").id != first.id
    assert submit(store, "acme").id != submit(store, "acme").id  # without a key there is no telling


def test_jobs_are_taken_up_once_and_in_order(store: Store, clock: Clock) -> None:
    jobs = [submit(store) for _ in range(3)]
    one, two = JobLeases(store, "one", now=clock), JobLeases(store, "two", now=clock)
    taken = [one.take(), two.take(), one.take()]
    assert [job.id for job in taken if job] == [job.id for job in jobs]
    assert all(job is not None and (job.status, job.attempts) == ("running", 1) for job in taken)
    assert two.take() is None
    assert not two.waiting()


def test_a_job_whose_worker_was_killed_is_taken_up_when_the_lease_has_ended(store: Store, clock: Clock) -> None:
    job = submit(store)
    killed, next_one = JobLeases(store, "killed", now=clock), JobLeases(store, "next", now=clock)
    assert killed.take() is not None
    clock.pass_by(LEASE_S - 1)
    assert killed.renew(job.id, (Step("vectors", 3, 9),)).held
    clock.pass_by(LEASE_S - 1)
    assert next_one.take() is None  # the lease was renewed
    clock.pass_by(2)
    again = next_one.take()
    assert again is not None
    assert (again.id, again.attempts, again.steps) == (job.id, 2, (Step("vectors", 3, 9),))
    # The first one was only slow: it finds that it has lost the job, and changes nothing.
    assert not killed.renew(job.id, (Step("vectors", 4, 9),)).held
    assert not killed.end(job.id, "failed", error="late")
    assert not killed.give_back(job.id)
    assert next_one.end(job.id, "succeeded", result={"documents": 1})
    done = JobStore(store).get("", job.id)
    assert done is not None
    assert (done.status, done.error, done.result, done.steps) == (
        "succeeded",
        None,
        {"documents": 1},
        (Step("vectors", 3, 9),),
    )


def test_a_job_that_kills_its_worker_each_time_is_given_up(store: Store, clock: Clock) -> None:
    job = submit(store)
    for number in range(MOST_ATTEMPTS):
        assert JobLeases(store, str(number), now=clock).take() is not None
        clock.pass_by(LEASE_S + 1)
    assert JobLeases(store, "last", now=clock).take() is None
    ended = JobStore(store).get("", job.id)
    assert ended is not None
    assert ended.status == "failed"
    assert f"died {MOST_ATTEMPTS} times" in (ended.error or "")
    retried = JobStore(store).retry("", job.id)
    assert retried is not None
    assert (retried.status, retried.attempts, retried.error) == ("queued", 0, None)
    assert JobLeases(store, "brave", now=clock).take() is not None


def test_two_jobs_on_one_collection_do_not_run_at_once(store: Store, clock: Clock) -> None:
    a, b = collection_key(store, "a"), collection_key(store, "b")
    first, second, other = submit(store, collection=a), submit(store, collection=a), submit(store, collection=b)
    one, two = JobLeases(store, "one", now=clock), JobLeases(store, "two", now=clock)
    taken = one.take()
    assert taken is not None
    assert (taken.id, taken.collection, taken.stored) == (first.id, "a", "a")
    beside = two.take()
    assert beside is not None
    assert beside.id == other.id
    assert two.take() is None
    assert one.end(first.id, "succeeded")
    after = two.take()
    assert after is not None
    assert after.id == second.id


def test_a_waiting_job_is_cancelled_at_once_and_a_running_one_is_asked(store: Store, clock: Clock) -> None:
    waiting, running = submit(store), submit(store)
    submitted, leases = JobStore(store), JobLeases(store, "w", now=clock)
    cancelled = submitted.cancel("", waiting.id)
    assert cancelled is not None
    assert cancelled.status == "cancelled"
    assert submitted.cancel("", waiting.id) == cancelled  # said twice
    taken = leases.take()
    assert taken is not None
    assert taken.id == running.id
    reply = submitted.cancel("", running.id)
    assert reply is not None
    assert (reply.status, reply.stopping) == ("running", True)
    assert leases.renew(running.id, ()).stopping
    with pytest.raises(JobStateError, match="running"):
        submitted.retry("", running.id)
    assert leases.end(running.id, "succeeded")
    with pytest.raises(JobStateError, match="succeeded"):
        submitted.cancel("", running.id)


def test_a_job_to_be_cancelled_whose_worker_died_is_cancelled(store: Store, clock: Clock) -> None:
    job = submit(store)
    assert JobLeases(store, "dies", now=clock).take() is not None
    JobStore(store).cancel("", job.id)
    clock.pass_by(LEASE_S + 1)
    assert JobLeases(store, "next", now=clock).take() is None
    ended = JobStore(store).get("", job.id)
    assert ended is not None
    assert ended.status == "cancelled"


def test_a_job_given_back_waits_as_long_as_it_should_and_has_lost_no_attempt(store: Store, clock: Clock) -> None:
    submit(store)
    leases = JobLeases(store, "w", now=clock)
    for _ in range(MOST_ATTEMPTS + 2):
        job = leases.take()
        assert job is not None
        assert job.attempts == 1
        assert leases.give_back(job.id, wait_s=5)
        assert leases.take() is None
        clock.pass_by(6)


def test_a_job_for_a_collection_that_is_gone_is_not_queued(store: Store) -> None:
    with pytest.raises(IntegrityError):
        submit(store, key="k", collection=12345)
    assert JobStore(store).list("") == ()


def test_a_deleted_collection_leaves_its_jobs(store: Store) -> None:
    key = collection_key(store, "a")
    job = submit(store, collection=key)
    with store.write() as connection:
        connection.execute(collections.delete().where(collections.c.id == key))
    left = JobStore(store).get("", job.id)
    assert left is not None
    assert left.stored is None
