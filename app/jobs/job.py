"""Background jobs as stored in the database, and the errors of job requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from app.errors import AppError

JobKind = Literal["index", "evaluation"]
JobStatus = Literal["queued", "running", "succeeded", "failed", "cancelled"]
STATUSES: tuple[JobStatus, ...] = get_args(JobStatus)
ENDED: frozenset[JobStatus] = frozenset({"succeeded", "failed", "cancelled"})


@dataclass(frozen=True, slots=True)
class Step:
    """The progress of one step of a job, in the unit of the step. total: None while it is unknown."""

    step: str
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Job:
    """A background job.

    tenant: ID of the owner. collection: the tenant's name of the collection; stored: its name in the store; both None
    if the job has no collection or it was deleted. steps: progress. error: reason for a failure. attempts: number of
    starts. stopping: whether a stop was requested. request: the requested work. result: outcome; None until the job
    ends. run_id: ID of an evaluation's run, as soon as it is known.
    """

    id: str
    kind: JobKind
    tenant: str
    status: JobStatus
    collection: str | None
    stored: str | None
    steps: tuple[Step, ...]
    error: str | None
    attempts: int
    stopping: bool
    request: Mapping[str, Any]
    result: Mapping[str, Any] | None
    run_id: str | None
    created_at: datetime
    heartbeat_at: datetime | None
    finished_at: datetime | None

    @property
    def ended(self) -> bool:
        """Whether the job has ended. A failed or cancelled job can be retried."""
        return self.status in ENDED


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submitted job. new: False if the client submitted the same request with the same idempotency key before."""

    job: Job
    new: bool


class KeyReusedError(AppError):
    """An idempotency key was reused for a different request."""


class JobStateError(AppError):
    """The operation is not allowed in the job's state."""
