"""/v1/evaluations: start and follow runs; read estimates, answers and reports."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from app.service.api.evaluations_schemas import (
    EvaluationBody,
    RunAnswers,
    RunDetail,
    RunReply,
    RunsReply,
    run_answer,
    run_fields,
)
from app.service.api.evaluations_work import Reports, start, tenant_run
from app.service.api.jobs_schemas import JOB_HEADERS, JobReply, job_reply
from app.service.api.json_route import JsonRoute, error_responses
from app.service.api.resources import IdempotencyKey, Limit, Offset, Resources, resources
from app.service.http.access import Caller, require
from evaluation.outcomes import Outcome
from evaluation.runs.run_store import RunStore

evaluations_router = APIRouter(tags=["evaluations"])
_json = APIRouter(route_class=JsonRoute)

Evaluator = Annotated[Caller, Depends(require("evaluate"))]
ResourcesDep = Annotated[Resources, Depends(resources)]
_REPORT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The report",
        "content": {"text/html": {"schema": {"type": "string"}}, "application/json": {"schema": {"type": "object"}}},
    }
}
Format = Annotated[Literal["html", "json"], Query(description="an HTML page, or the figures as JSON")]


async def reports(request: Request) -> Reports:
    """Return the app's report builder, created on the first request."""
    state = request.app.state
    existing = getattr(state, "reports", None)
    if not isinstance(existing, Reports):
        existing = state.reports = Reports()
    return existing


ReportsDep = Annotated[Reports, Depends(reports)]


@_json.post(
    "/v1/evaluations",
    status_code=202,
    summary="Start an evaluation",
    responses={
        202: {"headers": JOB_HEADERS},
        **error_responses(400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 503),
    },
)
async def begin(
    body: EvaluationBody,
    response: Response,
    caller: Evaluator,
    resources: ResourcesDep,
    idempotency_key: IdempotencyKey = None,
) -> JobReply:
    """Queue an evaluation. A run is identified by its content: the same questions, arms, model and index are the same
    run, which continues where it stopped.
    """
    submitted = await resources.do(start, resources.pipeline, caller, body.to_request(), idempotency_key)
    response.headers["Location"] = f"/v1/jobs/{submitted.job.id}"
    return job_reply(submitted.job)


evaluations_router.include_router(_json)


@evaluations_router.get(
    "/v1/evaluations", summary="List evaluations", responses=error_responses(401, 403, 422, 429, 500, 503)
)
async def list_runs(caller: Evaluator, resources: ResourcesDep, limit: Limit = 100, offset: Offset = 0) -> RunsReply:
    """Return the runs of the caller's tenant, newest first."""
    runs = await resources.do(RunStore(resources.pipeline.store).list_runs, caller.tenant)
    return RunsReply(data=[RunReply(**run_fields(info)) for info in runs[offset : offset + limit]])


@evaluations_router.get(
    "/v1/evaluations/{run_id}",
    summary="Show an evaluation with its estimates so far",
    responses=error_responses(401, 403, 404, 429, 500, 503),
)
async def show(run_id: str, caller: Evaluator, resources: ResourcesDep, reports: ReportsDep) -> RunDetail:
    """Return rates by arm and paired differences, with intervals clustered by question."""

    def load() -> RunDetail:
        info = tenant_run(resources.pipeline, caller, run_id)
        return RunDetail(**run_fields(info), summary=reports.summary(resources.pipeline, info))

    return await resources.do(load)


@evaluations_router.get(
    "/v1/evaluations/{run_id}/answers",
    summary="List the answers of an evaluation",
    responses=error_responses(401, 403, 404, 422, 429, 500, 503),
)
async def answers(
    run_id: str,
    caller: Evaluator,
    resources: ResourcesDep,
    arm: Annotated[str | None, Query(max_length=64)] = None,
    outcome: Outcome | None = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> RunAnswers:
    """Return answers with their outcomes and verdicts."""

    def load() -> RunAnswers:
        info = tenant_run(resources.pipeline, caller, run_id)
        records = [
            record
            for record in RunStore(resources.pipeline.store).load_samples(info.id)
            if arm in (None, record.arm) and outcome in (None, record.evaluation.outcome)
        ]
        shown = [run_answer(record) for record in records[offset : offset + limit]]
        return RunAnswers(data=shown, total=len(records))

    return await resources.do(load)


@evaluations_router.get(
    "/v1/evaluations/{run_id}/report",
    response_model=None,
    summary="Show the report of an evaluation",
    responses={**_REPORT, **error_responses(401, 403, 404, 409, 422, 429, 500, 503)},
)
async def report(
    run_id: str,
    caller: Evaluator,
    resources: ResourcesDep,
    reports: ReportsDep,
    format: Format = "html",  # noqa: A002
) -> Response:
    """Return the report as one self-contained HTML file, or its figures as JSON. The report of an unfinished run covers
    the samples so far.
    """

    def make() -> Response:
        info = tenant_run(resources.pipeline, caller, run_id)
        if format == "json":
            return JSONResponse(reports.json(resources.pipeline, info.id))
        return HTMLResponse(reports.html(resources.pipeline, info.id))

    return await resources.do(make)


@evaluations_router.get(
    "/v1/evaluations/{run_id}/against/{other_id}",
    response_model=None,
    summary="Compare two evaluations",
    responses={**_REPORT, **error_responses(401, 403, 404, 409, 422, 429, 500, 503)},
)
async def compare(
    run_id: str,
    other_id: str,
    caller: Evaluator,
    resources: ResourcesDep,
    reports: ReportsDep,
    format: Format = "html",  # noqa: A002
) -> Response:
    """Return paired differences between two runs on their common questions, with intervals."""

    def make() -> Response:
        one, two = tenant_run(resources.pipeline, caller, run_id), tenant_run(resources.pipeline, caller, other_id)
        if format == "json":
            return JSONResponse(reports.json(resources.pipeline, one.id, two.id))
        return HTMLResponse(reports.html(resources.pipeline, one.id, two.id))

    return await resources.do(make)
