"""Pages of collections: the list, and one collection with its documents, jobs and refused files."""

from __future__ import annotations

import secrets
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, Response

from app.accounts.tenants import create_tenant_collection, tenant_collections
from app.jobs.job import Job
from app.jobs.job_store import JobStore
from app.service.api.collections_work import delete_tenant_collection, remove_document, upload
from app.service.api.jobs import found_job
from app.service.api.resources import Resources, missing, refuse_other_sites, refused, resources
from app.service.http.access import Caller, require
from app.service.http.errors import ApiError
from app.service.pages.frame import fields_of, page, redirect, safe_path
from data.parsing.file_kinds import SHOWN_KINDS
from retrieval.errors import RetrievalError
from retrieval.generations.contents import list_documents

_PAGE = 100
_JOBS = 3

collections_pages = APIRouter(include_in_schema=False)
Reader = Annotated[Caller, Depends(require("query", "index"))]
Writer = Annotated[Caller, Depends(require("index"))]
Worker = Annotated[Caller, Depends(require("index", "evaluate"))]
ResourcesDep = Annotated[Resources, Depends(resources)]


@collections_pages.get("/collections")
async def show_all(caller: Reader, resources: ResourcesDep) -> HTMLResponse:
    """Show all collections of the caller's tenant."""
    return await _all(caller, resources)


@collections_pages.post("/collections")
async def make(request: Request, caller: Writer, resources: ResourcesDep) -> Response:
    """Create a collection and show it."""
    name = ""
    try:
        name = (await fields_of(request)).get("name", "").strip()
        own = await resources.do(_create, resources, caller, name)
    except ApiError as error:
        return await _all(caller, resources, error=error, name=name)
    return redirect(f"/collections/{own}")


@collections_pages.get("/collections/{name}")
async def show(
    name: str, caller: Reader, resources: ResourcesDep, offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0
) -> HTMLResponse:
    """Show one collection."""
    return await _one(name, caller, resources, offset)


@collections_pages.post("/collections/{name}/documents")
async def upload_files(name: str, request: Request, caller: Writer, resources: ResourcesDep) -> Response:
    """Upload files. The collection's page then shows their job."""
    try:
        refuse_other_sites(request)
        await upload(request, resources, caller, name, None)
    except ApiError as error:
        return await _one(name, caller, resources, 0, error=error)
    return redirect(f"/collections/{quote(name)}")


@collections_pages.post("/collections/{name}/remove")
async def remove(name: str, request: Request, caller: Writer, resources: ResourcesDep) -> Response:
    """Remove one document."""
    try:
        document = (await fields_of(request)).get("document", "")
        own = await resources.do(resources.own, caller.tenant, name)
        await resources.do(remove_document, resources.pipeline, caller, own, document, None)
    except ApiError as error:
        return await _one(name, caller, resources, 0, error=error)
    return redirect(f"/collections/{quote(name)}")


@collections_pages.post("/collections/{name}/delete")
async def delete(name: str, request: Request, caller: Writer, resources: ResourcesDep) -> Response:
    """Delete the collection if the confirmation box was ticked."""
    try:
        fields = await fields_of(request)
        own = await resources.do(resources.own, caller.tenant, name)
        if fields.get("sure") != "yes":
            raise ApiError(422, "tick the box to delete the collection", code="invalid_value", param="sure")
        await resources.do(delete_tenant_collection, resources.pipeline, own)
    except ApiError as error:
        return await _one(name, caller, resources, 0, error=error)
    return redirect("/collections")


@collections_pages.post("/jobs/{job_id}/{action}")
async def act(job_id: str, action: str, request: Request, caller: Worker, resources: ResourcesDep) -> Response:
    """Cancel or retry a job."""
    fields = await fields_of(request)

    def change() -> Job | None:
        found_job(resources.pipeline, caller, job_id)
        jobs = JobStore(resources.pipeline.store)
        if action not in ("cancel", "retry"):
            raise missing("page")
        return jobs.cancel(caller.tenant, job_id) if action == "cancel" else jobs.retry(caller.tenant, job_id)

    try:
        await resources.do(change)
    except ApiError as error:
        if error.status != 409:  # it has ended meanwhile, as the page will show
            raise
    return redirect(safe_path(fields.get("back", "/collections")))


def _create(resources: Resources, caller: Caller, name: str) -> str:
    try:
        return create_tenant_collection(resources.pipeline.store, caller.tenant, name).name
    except RetrievalError as error:
        raise refused(error, "name") from error


async def _all(caller: Caller, resources: Resources, *, error: ApiError | None = None, name: str = "") -> HTMLResponse:
    collections = await resources.do(tenant_collections, resources.pipeline.store, caller.tenant)
    return page("collections.html.j2", caller, "collections", error=error, collections=collections, name=name)


async def _one(
    name: str, caller: Caller, resources: Resources, offset: int, *, error: ApiError | None = None
) -> HTMLResponse:
    def load() -> dict[str, Any]:
        own = resources.own(caller.tenant, name)
        store = resources.pipeline.store
        jobs = JobStore(store).list(caller.tenant, kind="index", stored=own.stored, limit=_JOBS)
        done = next((job.result for job in jobs if job.result is not None), None) or {}
        return {
            "own": own,
            "jobs": jobs if caller.may("index") else (),
            "refused": done.get("refused", []) if caller.may("index") else [],
            "refused_count": done.get("refused_count", 0),
            "page": list_documents(store, own.stored, _PAGE, offset),
        }

    values = await resources.do(load)
    return page(
        "collection.html.j2",
        caller,
        "collections",
        error=error,
        following=any(not job.ended for job in values["jobs"]),
        offset=offset,
        size=_PAGE,
        key=secrets.token_urlsafe(16),
        kinds=SHOWN_KINDS,
        most_mb=resources.pipeline.settings.max_upload_mb,
        **values,
    )
