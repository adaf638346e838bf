"""Job: a background job as stored in the database, and the errors of requesting one."""

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
    """Progress of one step of a job, in the step's unit. total: None while unknown."""

    step: str
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Job:
    """A background job.

    collection: the tenant's name; stored: the store's name; both None if it is gone or not needed. steps: progress.
    error: reason of failure. attempts: number of starts. stopping: whether a stop was requested. request: the work;
    result: its outcome. run_id: of an evaluation, once known.
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
        """Whether the job is in a final state, unless it is retried."""
        return self.status in ENDED


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submitted job. new: False if the client sent the same request with the same idempotency key before."""

    job: Job
    new: bool


class KeyReusedError(AppError):
    """An idempotency key was reused for a different request."""


class JobStateError(AppError):
    """The operation is not allowed in the job's state."""
