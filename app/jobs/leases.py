"""JobLeases: how workers share the jobs. Whoever takes one up holds it until its lease ends, and renews that meanwhile.

A worker that was killed renews nothing, so that another takes the job up when the lease has ended. A worker that was
only slow finds, when it renews or ends the job, that it no longer holds it, and leaves it alone.
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
from data.columns import utc_now
from data.schema import jobs
from data.store import Store

LEASE_S = 30.0
MOST_ATTEMPTS = 3
"""A job whose worker died so often is given up: it would take every worker down, one after the other."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """held: whether the job is still this worker's. stopping: whether somebody asked that it end."""

    held: bool
    stopping: bool


def _turns() -> tuple[ColumnElement[Any], ...]:
    """Whose turn it is: first the tenants that never had a job done, then those whose last one is longest ago."""
    others = jobs.alias()
    last = select(func.max(others.c.heartbeat_at)).where(others.c.tenant == jobs.c.tenant).scalar_subquery()
    return (last.asc().nulls_first(),)


class JobLeases:
    """owner: this worker's name, unlike any other's. now: the present moment."""

    def __init__(
        self, store: Store, owner: str, *, lease_s: float = LEASE_S, now: Callable[[], datetime] = utc_now
    ) -> None:
        self._store = store
        self.owner = owner
        self._lease = timedelta(seconds=lease_s)
        self._now = now

    def waiting(self) -> bool:
        """Whether a job could be taken up now; only reads."""
        with self._store.read() as connection:
            return connection.execute(select(jobs.c.id).where(self._due()).limit(1)).first() is not None

    def take(self) -> Job | None:
        """Take up a job that waits, or whose worker let its lease end; None when there is none.

        Tenants take turns: the one whose last job was taken up longest ago comes first, with its oldest job. Two jobs
        that index one collection never run at once. Those that are beyond help are ended on the way.
        """
        while True:
            with self._store.write() as connection:
                due = select(jobs).where(self._due()).order_by(*_turns(), jobs.c.created_at, jobs.c.id).limit(1)
                row = connection.execute(due.with_for_update(skip_locked=True)).mappings().first()
                if row is None:
                    return None
                if row["stopping"]:
                    self._end(connection, row, "cancelled", None)
                    continue
                if row["attempts"] >= MOST_ATTEMPTS:
                    died = f"its worker died {row['attempts']} times while it worked on it: see the server's log"
                    self._end(connection, row, "failed", died)
                    continue
                now = self._now()
                values = {"status": "running", "owner": self.owner, "attempts": row["attempts"] + 1}
                moments = {"heartbeat_at": now, "lease_until": now + self._lease}
                # On PostgreSQL two may have read the same row; only one of them still finds it as it was.
                taken = connection.execute(self._unchanged(row).values(**values, **moments))
                if taken.rowcount == 1:
                    found = connection.execute(all_jobs().where(jobs.c.id == row["id"])).mappings().one()
                    return job_of(dict(found))

    def renew(self, job_id: str, steps: Sequence[Step], run_id: str | None = None) -> Heartbeat:
        """Say that the work goes on, and how far it is."""
        now = self._now()
        values: dict[str, Any] = {"heartbeat_at": now, "lease_until": now + self._lease}
        if steps:
            values["progress"] = {s.step: [s.done, s.total] for s in steps}
        if run_id is not None:
            values["run_id"] = run_id
        with self._store.write() as connection:
            held = connection.execute(update(jobs).where(self._mine(job_id)).values(**values)).rowcount == 1
            stopping = connection.execute(select(jobs.c.stopping).where(jobs.c.id == job_id)).scalar()
        return Heartbeat(held, bool(stopping))

    def end(
        self, job_id: str, status: JobStatus, *, error: str | None = None, result: Mapping[str, Any] | None = None
    ) -> bool:
        """Record how the job ended; False when it was no longer this worker's."""
        values: dict[str, Any] = {
            "status": status,
            "error": error,
            "finished_at": self._now(),
            "lease_until": None,
        }
        if result is not None:
            values["result"] = dict(result)
        with self._store.write() as connection:
            return connection.execute(update(jobs).where(self._mine(job_id)).values(**values)).rowcount == 1

    def give_back(self, job_id: str, wait_s: float = 0.0) -> bool:
        """Queue the job again, as if it had never been begun; it is not taken up before wait_s seconds have passed."""
        values = {"status": "queued", "owner": "", "attempts": jobs.c.attempts - 1, "heartbeat_at": None}
        until = self._now() + timedelta(seconds=wait_s) if wait_s else None
        with self._store.write() as connection:
            given = connection.execute(update(jobs).where(self._mine(job_id)).values(**values, lease_until=until))
            return given.rowcount == 1

    def _due(self) -> ColumnElement[bool]:
        now = self._now()
        over = or_(jobs.c.lease_until.is_(None), jobs.c.lease_until < now)
        other = jobs.alias()
        # A NULL among those of NOT IN would make it unknown for all.
        busy = (
            select(func.coalesce(other.c.collection_id, -1))
            .where(other.c.kind == "index", other.c.status == "running", other.c.lease_until >= now)
            .scalar_subquery()
        )
        free = or_(jobs.c.kind != "index", jobs.c.collection_id.is_(None), jobs.c.collection_id.not_in(busy))
        return and_(jobs.c.status.in_(("queued", "running")), over, free, jobs.c.request.is_not(None))

    def _mine(self, job_id: str) -> ColumnElement[bool]:
        return and_(jobs.c.id == job_id, jobs.c.status == "running", jobs.c.owner == self.owner)

    def _unchanged(self, row: Mapping[Any, Any]) -> Any:
        same = (jobs.c.id == row["id"], jobs.c.status == row["status"], jobs.c.attempts == row["attempts"])
        return update(jobs).where(*same, jobs.c.owner == row["owner"])

    def _end(self, connection: Connection, row: Mapping[Any, Any], status: JobStatus, error: str | None) -> None:
        ended = {"status": status, "error": error, "finished_at": self._now(), "lease_until": None}
        connection.execute(self._unchanged(row).values(**ended))
