"""/v1/jobs: follow, cancel and retry background jobs."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from app.jobs.job import Job, JobKind, JobStatus
from app.jobs.job_store import JobStore
from app.pipeline import Pipeline
from app.service.api.jobs_schemas import JobReply, JobsReply, job_reply
from app.service.api.json_route import error_responses
from app.service.api.resources import Limit, Offset, Resources, missing, refuse_other_sites, resources
from app.service.http.access import Caller, require
from app.service.http.errors import ApiError

MOST_WAITING = 100
"""Maximum number of waiting or running jobs of one tenant."""
_ID = re.compile(r"[0-9a-f]{32}")

jobs_router = APIRouter(tags=["jobs"])

Reader = Annotated[Caller, Depends(require("index", "evaluate"))]
ResourcesDep = Annotated[Resources, Depends(resources)]


@jobs_router.get("/v1/jobs", summary="List jobs", responses=error_responses(401, 403, 422, 429, 500, 503))
async def list_jobs(
    caller: Reader,
    resources: ResourcesDep,
    kind: JobKind | None = None,
    status: JobStatus | None = None,
    collection: Annotated[str | None, Query(max_length=64)] = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> JobsReply:
    """Return the jobs of the caller's tenant, newest first."""

    def find() -> tuple[Job, ...]:
        stored = resources.own(caller.tenant, collection).stored if collection is not None else None
        jobs = JobStore(resources.pipeline.store)
        return jobs.list(caller.tenant, kind=kind, status=status, stored=stored, limit=limit, offset=offset)

    try:
        jobs_found = await resources.do(find)
    except ApiError as error:
        if error.status != 404:
            raise
        jobs_found = ()  # a filter without matches gives an empty list, not a 404
    return JobsReply(data=[job_reply(job) for job in jobs_found])


@jobs_router.get(
    "/v1/jobs/{job_id}", summary="Show a job and its progress", responses=error_responses(401, 403, 404, 429, 500, 503)
)
async def get_job(job_id: str, caller: Reader, resources: ResourcesDep) -> JobReply:
    """Return a job. Poll about once a second until status is succeeded, failed or cancelled."""
    return job_reply(await resources.do(found_job, resources.pipeline, caller, job_id))


@jobs_router.post(
    "/v1/jobs/{job_id}/cancel",
    status_code=202,
    summary="Cancel a job",
    responses=error_responses(401, 403, 404, 409, 429, 500, 503),
)
async def cancel_job(job_id: str, request: Request, caller: Reader, resources: ResourcesDep) -> JobReply:
    """Cancel a waiting job at once, a running one at its next step. Saved work remains."""
    refuse_other_sites(request)

    def cancel() -> Job:
        found_job(resources.pipeline, caller, job_id)
        job = JobStore(resources.pipeline.store).cancel(caller.tenant, job_id)
        if job is None:
            raise missing("job")
        return job

    return job_reply(await resources.do(cancel))


@jobs_router.post(
    "/v1/jobs/{job_id}/retry",
    status_code=202,
    summary="Retry a failed or cancelled job",
    responses=error_responses(401, 403, 404, 409, 429, 500, 503),
)
async def retry_job(job_id: str, request: Request, caller: Reader, resources: ResourcesDep) -> JobReply:
    """Queue the job again. It continues from its saved work."""
    refuse_other_sites(request)

    def retry() -> Job:
        found_job(resources.pipeline, caller, job_id)
        check_job_limit(resources.pipeline, caller)
        job = JobStore(resources.pipeline.store).retry(caller.tenant, job_id)
        if job is None:
            raise missing("job")
        return job

    return job_reply(await resources.do(retry))


def check_job_limit(pipeline: Pipeline, caller: Caller) -> None:
    """Raise ApiError 429 if the tenant has too many jobs waiting."""
    if JobStore(pipeline.store).count(caller.tenant) >= MOST_WAITING:
        message = f"{MOST_WAITING} jobs are waiting already: try again when some are done"
        raise ApiError(429, message, code="too_many_jobs", retry_after=30)


def found_job(pipeline: Pipeline, caller: Caller, job_id: str) -> Job:
    """Return the caller's job. Raises ApiError 404 if there is none, or if the caller lacks its scope (index or
    evaluate).
    """
    job = JobStore(pipeline.store).get(caller.tenant, job_id) if _ID.fullmatch(job_id) else None
    if job is None or not caller.may("index" if job.kind == "index" else "evaluate"):
        raise missing("job")
    return job
