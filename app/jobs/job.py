"""Job: one piece of long work as the database has it, and the errors of asking for one."""

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
    """How far one step of a job is, in the step's own unit. total: None while unknown."""

    step: str
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Job:
    """collection: as its tenant calls it; stored: its name in the store; both None where it is gone, or none is needed.

    steps: how far it is. error: why it failed. attempts: how often it was begun. stopping: it was asked to end.
    request: what is to be done; result: what came of it. run_id: of an evaluation, once it is known.
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
        """Whether nothing more will happen to it, unless it is retried."""
        return self.status in ENDED


@dataclass(frozen=True, slots=True)
class Submitted:
    """new: False where the client had sent the same request, under the same key of its own, before."""

    job: Job
    new: bool


class KeyReusedError(AppError):
    """An idempotency key came back with another request."""


class JobStateError(AppError):
    """The job is in a state in which that cannot be asked of it."""
