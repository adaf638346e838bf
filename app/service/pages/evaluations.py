"""Pages of evaluations: start and follow runs, show one with its estimates, compare two."""

from __future__ import annotations

import io
import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile

from app.accounts.tenants import tenant_collections
from app.jobs.job_store import JobStore
from app.runs.default_arms import default_arms
from app.runs.report import report_data
from app.service.api.collections_upload import read_form
from app.service.api.evaluations import ReportsDep
from app.service.api.evaluations_schemas import EvaluationBody
from app.service.api.evaluations_work import start, tenant_run
from app.service.api.resource_limits import BATCH_BYTES
from app.service.api.resources import Resources, refuse_other_sites, resources
from app.service.http.access import Caller, require
from app.service.http.errors import ApiError, validation_error
from app.service.pages.frame import page, redirect
from data.jsonl import json_lines
from data.refused import Refused
from evaluation.runs.run_store import RunStore

_SHOWN = 50
_JOBS = 5
_TYPED = 200  # maximum characters of a field
_ARMS = (
    ("closed_book", "the model alone"),
    ("rag", "with retrieved documents"),
    ("oracle", "with the right documents"),
)

evaluations_pages = APIRouter(include_in_schema=False)
Evaluator = Annotated[Caller, Depends(require("evaluate"))]
ResourcesDep = Annotated[Resources, Depends(resources)]


@evaluations_pages.get("/evaluations")
async def show_runs(caller: Evaluator, resources: ResourcesDep) -> HTMLResponse:
    """Show runs, jobs, and the form for a new run."""
    return await _all(caller, resources)


@evaluations_pages.post("/evaluations")
async def begin(request: Request, caller: Evaluator, resources: ResourcesDep) -> Response:
    """Start a run and show its job. If it is refused, all fields except the file keep their values."""
    kept: dict[str, Any] = {}
    try:
        refuse_other_sites(request)
        form = await read_form(request, BATCH_BYTES)
        try:
            kept = _kept(form)
            body = await _body(form)
            key = form.get("key")
        finally:
            await form.close()
        sent = key if isinstance(key, str) and key.isascii() and 0 < len(key) <= 255 else None
        await resources.do(start, resources.pipeline, caller, body.to_request(), sent)
    except ApiError as error:
        return await _all(caller, resources, error=error, kept=kept)
    return redirect("/evaluations")


@evaluations_pages.get("/evaluations/compare")
async def compare(
    caller: Evaluator,
    resources: ResourcesDep,
    reports: ReportsDep,
    one: Annotated[str, Query(max_length=64)] = "",
    other: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Show the report that compares two runs."""

    def make() -> str:
        if not one or not other or one == other:
            raise ApiError(422, "choose two runs to compare", code="invalid_value", param="other")
        first, second = tenant_run(resources.pipeline, caller, one), tenant_run(resources.pipeline, caller, other)
        return reports.html(resources.pipeline, first.id, second.id)

    try:
        return HTMLResponse(await resources.do(make))
    except ApiError as error:
        return await _all(caller, resources, error=error)


@evaluations_pages.get("/evaluations/{run_id}")
async def show(run_id: str, caller: Evaluator, resources: ResourcesDep) -> HTMLResponse:
    """Show one run, in progress or finished."""

    def load() -> dict[str, Any]:
        info = tenant_run(resources.pipeline, caller, run_id)
        jobs = JobStore(resources.pipeline.store).list(caller.tenant, kind="evaluation", limit=_SHOWN)
        mine = [job for job in jobs if job.run_id == info.id][:1]
        # Estimates take a second of CPU, too much for a page that reloads every second.
        over = bool(info.samples) and all(job.ended for job in mine)
        return {
            "run": info,
            "jobs": mine,
            "summary": report_data(resources.pipeline, info.id).summary if over else None,
        }

    values = await resources.do(load)
    following = any(not job.ended for job in values["jobs"])
    return page("evaluation.html.j2", caller, "evaluations", following=following, **values)


async def _all(
    caller: Caller, resources: Resources, *, error: ApiError | None = None, kept: dict[str, Any] | None = None
) -> HTMLResponse:
    def load() -> dict[str, Any]:
        store = resources.pipeline.store
        return {
            "runs": RunStore(store).list_runs(caller.tenant)[:_SHOWN],
            "jobs": JobStore(store).list(caller.tenant, kind="evaluation", limit=_JOBS),
            "collections": tenant_collections(store, caller.tenant),
        }

    values = await resources.do(load)
    usual = default_arms(resources.pipeline)
    return page(
        "evaluations.html.j2",
        caller,
        "evaluations",
        error=error,
        following=any(not job.ended for job in values["jobs"]),
        key=secrets.token_urlsafe(16),
        most_samples=resources.pipeline.settings.max_samples,
        arms=_ARMS,
        left_out=usual.left_out,
        kept={"samples": "1", "arms": list(usual.names), **(kept or {})},
        **values,
    )


def _kept(form: FormData) -> dict[str, Any]:
    """Return the typed values to fill the form again, truncated to the form's limits."""
    typed = {name: form.get(name) for name in ("name", "collection", "samples", "limit")}
    kept: dict[str, Any] = {name: value[:_TYPED] for name, value in typed.items() if isinstance(value, str)}
    return kept | {"arms": [arm for arm in form.getlist("arms") if isinstance(arm, str)]}


async def _body(form: FormData) -> EvaluationBody:
    """Return the form as the API's body. Raises ApiError 422 with the API's messages."""
    given: dict[str, Any] = {"arms": [str(arm) for arm in form.getlist("arms")]}
    for name in ("name", "collection"):
        value = form.get(name)
        if isinstance(value, str) and value.strip():
            given[name] = value.strip()
    for name in ("samples", "limit"):
        value = form.get(name)
        if isinstance(value, str) and value.strip():
            given[name] = int(value) if value.strip().isdecimal() and len(value) < 10 else value
    file = form.get("questions")
    given["questions"] = "samples"
    if isinstance(file, UploadFile) and (file.filename or file.size):
        given["questions"] = _questions(await file.read())
    try:
        return EvaluationBody(**given)
    except ValidationError as error:
        raise validation_error([{**problem, "loc": ("body", *problem["loc"])} for problem in error.errors()]) from error


def _questions(content: bytes) -> list[dict[str, Any]]:
    questions: list[dict[str, Any]] = []
    for line in json_lines(io.BytesIO(content), "questions"):
        if isinstance(line, Refused):
            raise ApiError(422, str(line), code="invalid_value", param="questions")
        fields = {name: value for name, value in line.fields.items() if name in _KNOWN}
        for other, name in (("_id", "id"), ("question", "text"), ("answers", "references")):
            if other in line.fields:
                fields.setdefault(name, line.fields[other])
        questions.append(fields)
    return questions


_KNOWN = ("id", "text", "references", "relevant_document_ids", "answerable", "kind", "evidence")
