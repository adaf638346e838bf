"""/v1/collections: create, fill, inspect and delete collections. (The list of collections is in routes.py.)"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from app.accounts.tenants import create_tenant_collection
from app.service.api.collections_schemas import (
    UPLOAD_BODY,
    CollectionBody,
    CollectionDetail,
    DocumentsReply,
    DocumentText,
    GenerationsReply,
    detail,
    document_reply,
    document_text,
    generation_reply,
)
from app.service.api.collections_work import delete_tenant_collection, newest_job, remove_document, upload
from app.service.api.jobs_schemas import JOB_HEADERS, JobReply, job_reply
from app.service.api.json_route import JsonRoute, error_responses
from app.service.api.resources import IdempotencyKey, Limit, Offset, Resources, missing, refuse_other_sites, resources
from app.service.http.access import Caller, require
from retrieval.generations.contents import find_document, list_documents, list_generations

collections_router = APIRouter(tags=["collections"])
_json = APIRouter(route_class=JsonRoute)

Reader = Annotated[Caller, Depends(require("query", "index"))]
Writer = Annotated[Caller, Depends(require("index"))]
ResourcesDep = Annotated[Resources, Depends(resources)]


@_json.post(
    "/v1/collections",
    status_code=201,
    summary="Create an empty collection",
    responses={
        201: {"headers": {"Location": {"description": "URL of the collection", "schema": {"type": "string"}}}},
        **error_responses(400, 401, 403, 408, 409, 413, 415, 422, 429, 500, 503),
    },
)
async def create(body: CollectionBody, response: Response, caller: Writer, resources: ResourcesDep) -> CollectionDetail:
    """Create an empty collection. It answers questions once documents are uploaded and indexed."""
    own = await resources.do(create_tenant_collection, resources.pipeline.store, caller.tenant, body.name)
    response.headers["Location"] = f"/v1/collections/{own.name}"
    return detail(own, None)


collections_router.include_router(_json)


@collections_router.get(
    "/v1/collections/{name}",
    summary="Show a collection and its newest job",
    responses=error_responses(401, 403, 404, 429, 500, 503),
)
async def show(name: str, caller: Reader, resources: ResourcesDep) -> CollectionDetail:
    """Return the published state of a collection and its newest index job."""

    def load() -> CollectionDetail:
        own = resources.own(caller.tenant, name)
        job = newest_job(resources.pipeline, caller, own) if caller.may("index") else None
        return detail(own, job_reply(job) if job else None)

    return await resources.do(load)


@collections_router.delete(
    "/v1/collections/{name}",
    status_code=204,
    summary="Delete a collection with its documents",
    responses=error_responses(401, 403, 404, 409, 429, 500, 503),
)
async def delete(name: str, request: Request, caller: Writer, resources: ResourcesDep) -> None:
    """Delete the collection at once. Returns 409 while the collection is being indexed."""
    refuse_other_sites(request)
    own = await resources.do(resources.own, caller.tenant, name)
    await resources.do(delete_tenant_collection, resources.pipeline, own)


@collections_router.post(
    "/v1/collections/{name}/documents",
    status_code=202,
    summary="Upload documents",
    responses={
        202: {"headers": JOB_HEADERS},
        **error_responses(400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 503),
    },
    openapi_extra=UPLOAD_BODY,
)
async def upload_documents(
    name: str,
    request: Request,
    response: Response,
    caller: Writer,
    resources: ResourcesDep,
    idempotency_key: IdempotencyKey = None,
) -> JobReply:
    """Queue a job that adds the files (formats: docs/formats.md). A file with the name of an existing document replaces
    it; all other documents remain. The job's result lists refused files with reasons.
    """
    refuse_other_sites(request)
    submitted = await upload(request, resources, caller, name, idempotency_key)
    response.headers["Location"] = f"/v1/jobs/{submitted.job.id}"
    return job_reply(submitted.job)


@collections_router.get(
    "/v1/collections/{name}/documents",
    summary="List the documents of a collection",
    responses=error_responses(401, 403, 404, 422, 429, 500, 503),
)
async def documents(
    name: str, caller: Reader, resources: ResourcesDep, limit: Limit = 100, offset: Offset = 0
) -> DocumentsReply:
    """Return the published documents, sorted by id, without their text."""

    def load() -> DocumentsReply:
        page = list_documents(resources.pipeline.store, resources.own(caller.tenant, name).stored, limit, offset)
        return DocumentsReply(data=[document_reply(one) for one in page.documents], total=page.total)

    return await resources.do(load)


@collections_router.get(
    "/v1/collections/{name}/documents/{document_id:path}",
    summary="Show a document with its text",
    responses=error_responses(401, 403, 404, 429, 500, 503),
)
async def document(name: str, document_id: str, caller: Reader, resources: ResourcesDep) -> DocumentText:
    """Return the document as it was indexed."""

    def load() -> DocumentText:
        own = resources.own(caller.tenant, name)
        stored_document = (
            find_document(resources.pipeline.store, own.stored, document_id) if "\0" not in document_id else None
        )
        if stored_document is None:
            raise missing("document")
        return document_text(stored_document)

    return await resources.do(load)


@collections_router.delete(
    "/v1/collections/{name}/documents/{document_id:path}",
    status_code=202,
    summary="Remove a document",
    responses={202: {"headers": JOB_HEADERS}, **error_responses(401, 403, 404, 409, 422, 429, 500, 503)},
)
async def remove(
    name: str,
    document_id: str,
    request: Request,
    response: Response,
    caller: Writer,
    resources: ResourcesDep,
    idempotency_key: IdempotencyKey = None,
) -> JobReply:
    """Queue a job that removes the document. The document can be cited until the new index is published."""
    refuse_other_sites(request)
    if "\0" in document_id:
        raise missing("document")
    own = await resources.do(resources.own, caller.tenant, name)
    job = await resources.do(remove_document, resources.pipeline, caller, own, document_id, idempotency_key)
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return job_reply(job)


@collections_router.get(
    "/v1/collections/{name}/generations",
    summary="List the indexes of a collection",
    responses=error_responses(401, 403, 404, 429, 500, 503),
)
async def generations(name: str, caller: Reader, resources: ResourcesDep) -> GenerationsReply:
    """Return the indexes of the collection, newest first."""

    def load() -> GenerationsReply:
        facts = list_generations(resources.pipeline.store, resources.own(caller.tenant, name).stored)
        return GenerationsReply(data=[generation_reply(one) for one in facts])

    return await resources.do(load)
