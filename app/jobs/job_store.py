"""Store and query jobs in the database. All queries of clients filter by tenant. Leases are in app.jobs.leases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from sqlalchemy import Select, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.jobs.job import ENDED, Job, JobKind, JobStateError, JobStatus, KeyReusedError, Step, Submitted
from data.columns import database_now
from data.schema import collections, jobs
from data.store import Store


class JobStore:
    """The jobs of all tenants in the database. An instance has no state."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def submit(
        self,
        job_id: str,
        kind: JobKind,
        tenant: str,
        request: Mapping[str, Any],
        *,
        request_sha256: str,
        collection_key: int | None = None,
        idempotency_key: str | None = None,
    ) -> Submitted:
        """Queue a job, or return the job that the client queued before with the same key and request.

        request_sha256: hash that identifies equal requests. collection_key: database key of the collection.
        idempotency_key: key given by the client; None always queues a job. Raises KeyReusedError if the key was used
        for another request, IntegrityError if the collection does not exist.
        """
        try:
            return self._submit(job_id, kind, tenant, request, request_sha256, collection_key, idempotency_key)
        except IntegrityError:
            if idempotency_key is None:
                raise
        # On PostgreSQL, another process inserted the same key first. Its job exists now.
        return self._submit(job_id, kind, tenant, request, request_sha256, collection_key, idempotency_key)

    def _submit(
        self,
        job_id: str,
        kind: JobKind,
        tenant: str,
        request: Mapping[str, Any],
        request_sha256: str,
        collection_key: int | None,
        idempotency_key: str | None,
    ) -> Submitted:
        with self._store.write(exclusive=False) as connection:
            if idempotency_key is not None:
                same = jobs_of(tenant).where(jobs.c.idempotency_key == idempotency_key)
                known = connection.execute(same).mappings().first()
                if known is not None and known["request_sha256"] != request_sha256:
                    raise KeyReusedError(
                        f"the Idempotency-Key {idempotency_key!r} was used for another request: choose a new one"
                    )
                if known is not None:
                    return Submitted(job_of(dict(known)), new=False)
            connection.execute(
                insert(jobs).values(
                    id=job_id,
                    kind=kind,
                    tenant=tenant,
                    collection_id=collection_key,
                    status="queued",
                    progress={},
                    owner="",
                    request=dict(request),
                    request_sha256=request_sha256,
                    idempotency_key=idempotency_key,
                    created_at=database_now(connection),
                )
            )
            row = connection.execute(jobs_of(tenant).where(jobs.c.id == job_id)).mappings().one()
        return Submitted(job_of(dict(row)), new=True)

    def get(self, tenant: str, job_id: str) -> Job | None:
        """Return the tenant's job with this ID, or None if there is none."""
        with self._store.read() as connection:
            row = connection.execute(jobs_of(tenant).where(jobs.c.id == job_id)).mappings().first()
        return job_of(dict(row)) if row is not None else None

    def list(
        self,
        tenant: str,
        *,
        kind: JobKind | None = None,
        status: JobStatus | None = None,
        stored: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> tuple[Job, ...]:
        """Return the tenant's jobs, newest first. stored: name of a collection in the store whose jobs are selected."""
        query = jobs_of(tenant)
        for column, value in ((jobs.c.kind, kind), (jobs.c.status, status), (collections.c.name, stored)):
            if value is not None:
                query = query.where(column == value)
        query = query.order_by(jobs.c.created_at.desc(), jobs.c.id).limit(limit).offset(offset)
        with self._store.read() as connection:
            return tuple(job_of(dict(row)) for row in connection.execute(query).mappings())

    def count(self, tenant: str, *, waiting: bool = True) -> int:
        """Return the number of the tenant's jobs that have not ended, or of all its jobs if ``waiting`` is False."""
        query = select(func.count()).select_from(jobs).where(jobs.c.tenant == tenant)
        if waiting:
            query = query.where(jobs.c.status.in_(("queued", "running")))
        with self._store.read() as connection:
            return connection.execute(query).scalar_one()

    def cancel(self, tenant: str, job_id: str) -> Job | None:
        """Cancel a queued job at once, or request a running job to stop. Return None if the tenant has no such job.

        A cancelled job is returned unchanged. Raises JobStateError for a job that succeeded or failed.
        """
        with self._store.write(exclusive=False) as connection:
            # Locked, so that the worker does not end the job in between.
            locked = jobs_of(tenant).where(jobs.c.id == job_id).with_for_update(of=jobs)
            row = connection.execute(locked).mappings().first()
            if row is None:
                return None
            status = row["status"]
            if status in ENDED and status != "cancelled":
                raise JobStateError(f"the job has {status}: there is nothing to cancel")
            mine = update(jobs).where(jobs.c.id == job_id)
            if status == "queued":
                connection.execute(mine.values(status="cancelled", finished_at=database_now(connection)))
            elif status == "running":
                connection.execute(mine.values(stopping=True))
            row = connection.execute(jobs_of(tenant).where(jobs.c.id == job_id)).mappings().one()
        return job_of(dict(row))

    def retry(self, tenant: str, job_id: str) -> Job | None:
        """Queue a failed or cancelled job again. Return None if the tenant has no such job.

        The job continues from its saved work. Raises JobStateError for a queued, running or succeeded job.
        """
        with self._store.write(exclusive=False) as connection:
            # Locked, so that the worker does not end the job in between.
            locked = jobs_of(tenant).where(jobs.c.id == job_id).with_for_update(of=jobs)
            row = connection.execute(locked).mappings().first()
            if row is None:
                return None
            if row["status"] not in ("failed", "cancelled"):
                raise JobStateError(f"the job is {row['status']}: only failed and cancelled jobs can be retried")
            again = {"status": "queued", "attempts": 0, "error": None, "stopping": False, "finished_at": None}
            connection.execute(update(jobs).where(jobs.c.id == job_id).values(**again, owner="", lease_until=None))
            row = connection.execute(jobs_of(tenant).where(jobs.c.id == job_id)).mappings().one()
        return job_of(dict(row))


def all_jobs() -> Select[Any]:
    """Return a query of all jobs with the columns that ``job_of`` reads."""
    named = func.coalesce(collections.c.label, collections.c.name).label("collection")
    return select(jobs, named, collections.c.name.label("stored")).outerjoin(
        collections, (collections.c.id == jobs.c.collection_id) & (collections.c.tenant == jobs.c.tenant)
    )


def jobs_of(tenant: str) -> Select[Any]:
    """Return the query of ``all_jobs`` for one tenant."""
    return all_jobs().where(jobs.c.tenant == tenant)


def job_of(row: Mapping[str, Any]) -> Job:
    """Return the job in a row of ``all_jobs``."""
    steps = row["progress"] or {}
    return Job(
        id=row["id"],
        kind=cast(JobKind, row["kind"]),
        tenant=row["tenant"],
        status=cast(JobStatus, row["status"]),
        collection=row["collection"],
        stored=row["stored"],
        steps=tuple(Step(name, done, total) for name, (done, total) in steps.items()),
        error=row["error"],
        attempts=row["attempts"],
        stopping=row["stopping"],
        request=row["request"] or {},
        result=row["result"],
        run_id=row["run_id"],
        created_at=row["created_at"],
        heartbeat_at=row["heartbeat_at"],
        finished_at=row["finished_at"],
    )
