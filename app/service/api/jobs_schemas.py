"""Response schemas of jobs."""

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
    """Base of responses: undeclared fields are an error."""

    model_config = ConfigDict(extra="forbid")


class StepReply(Reply):
    """Progress of one step. done, total: counts in the unit of the step; total is null while unknown."""

    step: str
    done: int
    total: int | None


class RefusedReply(Reply):
    """A refused item, and the reason for the refusal."""

    where: str
    reason: str


class JobReply(Reply):
    """A background job. result: for an index job, the added, changed, removed and refused documents; for an evaluation,
    its run.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [EXAMPLE_JOB]})

    id: str
    object: Literal["job"] = "job"
    kind: Literal["index", "evaluation"]
    status: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    collection: str | None = Field(
        default=None, description="name of the collection; null if the job needs none, or it was deleted"
    )
    progress: list[StepReply]
    error: str | None = Field(default=None, description="reason for the failure")
    attempts: int = Field(description="number of starts by a worker")
    cancelling: bool = Field(description="whether the job was asked to stop and will do so at its next step")
    result: dict[str, Any] | None = None
    run_id: str | None = Field(
        default=None, description="ID of an evaluation's run, once it is known: GET /v1/evaluations/{run_id}"
    )
    created_at: datetime
    heartbeat_at: datetime | None = Field(default=None, description="time of the worker's last heartbeat")
    finished_at: datetime | None = None


class JobsReply(Reply):
    """Jobs, newest first."""

    object: Literal["list"] = "list"
    data: list[JobReply]


JOB_HEADERS: dict[str, Any] = {"Location": {"description": "URL of the job", "schema": {"type": "string"}}}


def job_reply(job: Job) -> JobReply:
    """Return the response for a job."""
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
