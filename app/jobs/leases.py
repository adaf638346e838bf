"""Leases of jobs. A worker takes a job under a lease and renews the lease while it works.

If a worker dies, its lease expires and another worker takes the job. A worker that was only slow learns at its next
renewal that it lost the job, and stops working on it. All times are those of the database's clock, so the clocks of the
workers need not agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, and_, func, or_, select, update
from sqlalchemy.sql.elements import ColumnElement

from app.jobs.job import Job, JobStatus, Step
from app.jobs.job_store import all_jobs, job_of
from data.columns import database_now
from data.schema import collections, jobs
from data.store import Store

LEASE_S = 30.0
MOST_ATTEMPTS = 3
"""Number of attempts, each ended by the death of a worker, after which a job fails."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The result of a renewal. held: whether the worker still holds the job. stopping: whether a stop was requested."""

    held: bool
    stopping: bool


def _turns() -> tuple[ColumnElement[Any], ...]:
    """Return the order of tenants: those without an earlier job, then by the time of their last job, oldest first."""
    others = jobs.alias()
    last = select(func.max(others.c.heartbeat_at)).where(others.c.tenant == jobs.c.tenant).scalar_subquery()
    return (last.asc().nulls_first(),)


class JobLeases:
    """The leases of one worker.

    owner: unique name of the worker. lease_s: duration of a lease in seconds. now: function that returns the current
    time; by default the clock of the database.
    """

    def __init__(
        self, store: Store, owner: str, *, lease_s: float = LEASE_S, now: Callable[[], datetime] | None = None
    ) -> None:
        self._store = store
        self.owner = owner
        self._lease = timedelta(seconds=lease_s)
        self._now = now

    def waiting(self) -> bool:
        """Return whether a job could be taken now. Only reads the database."""
        with self._store.read() as connection:
            due = self._due(self._time(connection))
            return connection.execute(select(jobs.c.id).where(due).limit(1)).first() is not None

    def take(self) -> Job | None:
        """Take a queued job or one whose lease has expired. Return None if there is none.

        Tenants take turns: the tenant whose last job is oldest comes first, with its oldest job. Two index jobs of one
        collection never run at the same time. Jobs with MOST_ATTEMPTS dead workers are marked as failed.
        """
        while True:
            with self._store.write(exclusive=False) as connection:
                now = self._time(connection)
                due = select(jobs).where(self._due(now)).order_by(*_turns(), jobs.c.created_at, jobs.c.id).limit(1)
                row = connection.execute(due.with_for_update(skip_locked=True)).mappings().first()
                if row is None:
                    return None
                if not self._collection_free(connection, row, now):
                    continue
                if row["stopping"]:
                    self._end(connection, row, "cancelled", None)
                    continue
                if row["attempts"] >= MOST_ATTEMPTS:
                    died = f"the worker died {row['attempts']} times during this job: see the server's log"
                    self._end(connection, row, "failed", died)
                    continue
                values = {"status": "running", "owner": self.owner, "attempts": row["attempts"] + 1}
                moments = {"heartbeat_at": now, "lease_until": now + self._lease}
                connection.execute(update(jobs).where(jobs.c.id == row["id"]).values(**values, **moments))
                found = connection.execute(all_jobs().where(jobs.c.id == row["id"])).mappings().one()
                return job_of(dict(found))

    def renew(self, job_id: str, steps: Sequence[Step], run_id: str | None = None) -> Heartbeat:
        """Renew the lease and store the progress. run_id: ID of an evaluation's run, if known."""
        values: dict[str, Any] = {}
        if steps:
            values["progress"] = {s.step: [s.done, s.total] for s in steps}
        if run_id is not None:
            values["run_id"] = run_id
        with self._store.write(exclusive=False) as connection:
            now = self._time(connection)
            values |= {"heartbeat_at": now, "lease_until": now + self._lease}
            renewed = connection.execute(update(jobs).where(self._mine(job_id)).values(**values)).rowcount == 1
            stopping = connection.execute(select(jobs.c.stopping).where(jobs.c.id == job_id)).scalar()
        return Heartbeat(renewed, bool(stopping))

    def end(
        self, job_id: str, status: JobStatus, *, error: str | None = None, result: Mapping[str, Any] | None = None
    ) -> bool:
        """Record how a job ended. Return False if this worker no longer holds it."""
        values: dict[str, Any] = {"status": status, "error": error, "lease_until": None}
        if result is not None:
            values["result"] = dict(result)
        with self._store.write(exclusive=False) as connection:
            values["finished_at"] = self._time(connection)
            return connection.execute(update(jobs).where(self._mine(job_id)).values(**values)).rowcount == 1

    def give_back(self, job_id: str, wait_s: float = 0.0) -> bool:
        """Queue a job again without counting the attempt. Return False if this worker no longer holds it.

        wait_s: time in seconds before the job can be taken again.
        """
        values = {"status": "queued", "owner": "", "attempts": jobs.c.attempts - 1, "heartbeat_at": None}
        with self._store.write(exclusive=False) as connection:
            until = self._time(connection) + timedelta(seconds=wait_s) if wait_s else None
            given = connection.execute(update(jobs).where(self._mine(job_id)).values(**values, lease_until=until))
            return given.rowcount == 1

    def _time(self, connection: Connection) -> datetime:
        return self._now() if self._now is not None else database_now(connection)

    def _collection_free(self, connection: Connection, row: Mapping[Any, Any], now: datetime) -> bool:
        """Return whether no other index job of the collection is running.

        Two workers may lock two jobs of one collection at the same time. The second one waits here for the row of the
        collection, and then sees that the job of the first one is running.
        """
        if row["kind"] != "index" or row["collection_id"] is None:
            return True
        mine = select(collections.c.id).where(collections.c.id == row["collection_id"])
        connection.execute(mine.with_for_update(key_share=True))
        again = select(jobs.c.id).where(jobs.c.id == row["id"], self._due(now))
        return connection.execute(again).first() is not None

    def _due(self, now: datetime) -> ColumnElement[bool]:
        over = or_(jobs.c.lease_until.is_(None), jobs.c.lease_until < now)
        other = jobs.alias()
        # A NULL in the list would make NOT IN unknown (NULL) for all rows.
        busy = (
            select(func.coalesce(other.c.collection_id, -1))
            .where(other.c.kind == "index", other.c.status == "running", other.c.lease_until >= now)
            .scalar_subquery()
        )
        free = or_(jobs.c.kind != "index", jobs.c.collection_id.is_(None), jobs.c.collection_id.not_in(busy))
        return and_(jobs.c.status.in_(("queued", "running")), over, free, jobs.c.request.is_not(None))

    def _mine(self, job_id: str) -> ColumnElement[bool]:
        return and_(jobs.c.id == job_id, jobs.c.status == "running", jobs.c.owner == self.owner)

    def _end(self, connection: Connection, row: Mapping[Any, Any], status: JobStatus, error: str | None) -> None:
        ended = {"status": status, "error": error, "finished_at": self._time(connection), "lease_until": None}
        connection.execute(update(jobs).where(jobs.c.id == row["id"]).values(**ended))
