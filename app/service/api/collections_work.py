"""Operations that change collections. They do not depend on routes; the API and the pages share them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import cast

from fastapi import Request
from starlette.datastructures import UploadFile

from app.accounts.tenants import TenantCollection, collection_key_of
from app.jobs.job import Job, Submitted
from app.jobs.job_store import JobStore
from app.jobs.requests import IndexRequest, digest
from app.jobs.staging import staging_folder
from app.pipeline import Pipeline
from app.service.api.collections_upload import files_of, read_form, stage, unstage
from app.service.api.jobs import check_job_limit
from app.service.api.resources import Resources, missing
from app.service.http.access import Caller
from retrieval.collections import delete_collection
from retrieval.generations.contents import find_document


async def upload(request: Request, resources: Resources, caller: Caller, name: str, key: str | None) -> Submitted:
    """Stage files and queue the job that indexes them. key: the client's idempotency key.

    Raises ApiError if the upload is refused; no staged file remains then.
    """
    pipeline = resources.pipeline
    own = await resources.do(resources.own, caller.tenant, name)
    await resources.do(check_job_limit, pipeline, caller)
    limits = (pipeline.settings.max_upload_mb * 1_000_000, caller.limits.upload_bytes)
    form = await read_form(request, min(limit for limit in limits if limit is not None))
    try:
        sent = form.get("key")
        if key is None and isinstance(sent, str) and 0 < len(sent) <= 255 and sent.isascii() and sent.isprintable():
            key = sent  # of a form: a page cannot send its own headers
        return await resources.do(_staged, pipeline, caller, own, lambda: files_of(form), key)
    finally:
        await form.close()


def remove_document(
    pipeline: Pipeline, caller: Caller, own: TenantCollection, document_id: str, key: str | None
) -> Job:
    """Queue the job that removes a document. Raises ApiError 404 if the collection does not contain it."""
    check_job_limit(pipeline, caller)
    if find_document(pipeline.store, own.stored, document_id) is None:
        raise missing("document")
    request = IndexRequest(remove=(document_id,))
    return _submit(pipeline, caller, own, uuid.uuid4().hex, request, digest(own.name, request.to_json()), key).job


def delete_tenant_collection(pipeline: Pipeline, own: TenantCollection) -> None:
    """Delete a collection with its documents. Raises CollectionBusyError while it is being indexed."""
    delete_collection(pipeline.store, pipeline.home, own.stored, pipeline.engines)


def newest_job(pipeline: Pipeline, caller: Caller, own: TenantCollection) -> Job | None:
    """Return the newest index job of a collection; None if there is none."""
    jobs = JobStore(pipeline.store).list(caller.tenant, kind="index", stored=own.stored, limit=1)
    return jobs[0] if jobs else None


def _staged(
    pipeline: Pipeline, caller: Caller, own: TenantCollection, files: Callable[[], list[UploadFile]], key: str | None
) -> Submitted:
    job_id = uuid.uuid4().hex
    folder = staging_folder(pipeline.home, job_id)
    try:
        staged = stage(folder, files())
        request = IndexRequest(uploads=tuple(file.name for file in staged))
        what = digest(own.name, [[file.name, file.sha256] for file in staged])
        submitted = _submit(pipeline, caller, own, job_id, request, what, key)
    except BaseException:
        unstage(folder)
        raise
    if not submitted.new:
        unstage(folder)
    return submitted


def _submit(
    pipeline: Pipeline,
    caller: Caller,
    own: TenantCollection,
    job_id: str,
    request: IndexRequest,
    what: str,
    key: str | None,
) -> Submitted:
    with pipeline.store.read() as connection:
        collection = collection_key_of(connection, caller.tenant, own.name)
    if collection is None:
        raise missing("collection")  # deleted meanwhile
    return JobStore(pipeline.store).submit(
        job_id,
        "index",
        caller.tenant,
        cast("dict[str, object]", request.to_json()),
        request_sha256=what,
        collection_key=collection,
        idempotency_key=key,
    )
