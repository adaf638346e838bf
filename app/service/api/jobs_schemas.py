"""Jobs as the service gives them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.jobs.job import Job

EXAMPLE_JOB: dict[str, Any] = {
    "id": "0f8fad5bd9cb469fa16570867728950e",
    "object": "job",
    "kind": "index",
    "status": "running",
    "collection": "handbook",
    "progress": [{"step": "documents", "done": 12, "total": 40}],
    "error": None,
    "attempts": 1,
    "cancelling": False,
    "result": None,
    "run_id": None,
    "created_at": "2026-11-21T12:00:00Z",
    "heartbeat_at": "2026-11-21T12:00:03Z",
    "finished_at": None,
}


class Reply(BaseModel):
    """Nothing is sent that is not declared."""

    model_config = ConfigDict(extra="forbid")


class StepReply(Reply):
    """How far one step is, in its own unit. total: null while unknown."""

    step: str
    done: int
    total: int | None


class RefusedReply(Reply):
    """Something that was not taken up, and why."""

    where: str
    reason: str


class JobReply(Reply):
    """Long work. result: of an index job what was added, changed, removed and refused; of an evaluation its run."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [EXAMPLE_JOB]})

    id: str
    object: Literal["job"] = "job"
    kind: Literal["index", "evaluation"]
    status: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    collection: str | None = Field(default=None, description="null where none is needed, or it was deleted")
    progress: list[StepReply]
    error: str | None = Field(default=None, description="why it failed")
    attempts: int = Field(description="how often a worker began it")
    cancelling: bool = Field(description="it was asked to end, and will at its next step")
    result: dict[str, Any] | None = None
    run_id: str | None = Field(
        default=None, description="of an evaluation, as soon as it is known: GET /v1/evaluations/{run_id}"
    )
    created_at: datetime
    heartbeat_at: datetime | None = Field(default=None, description="when its worker last said it is alive")
    finished_at: datetime | None = None


class JobsReply(Reply):
    """Jobs, the newest first."""

    object: Literal["list"] = "list"
    data: list[JobReply]


JOB_HEADERS: dict[str, Any] = {"Location": {"description": "where the job is followed", "schema": {"type": "string"}}}


def job_reply(job: Job) -> JobReply:
    """A job as it is sent."""
    return JobReply(
        id=job.id,
        kind=job.kind,
        status=job.status,
        collection=job.collection,
        progress=[StepReply(step=s.step, done=s.done, total=s.total) for s in job.steps],
        error=job.error,
        attempts=job.attempts,
        cancelling=job.stopping and not job.ended,
        result=dict(job.result) if job.result is not None else None,
        run_id=job.run_id,
        created_at=job.created_at,
        heartbeat_at=job.heartbeat_at,
        finished_at=job.finished_at,
    )
