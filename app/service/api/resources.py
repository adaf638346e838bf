"""Common parts of the routes of collections, jobs and evaluations: a thread pool, and the mapping of errors."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Annotated, ParamSpec, TypeVar
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from fastapi import Header, Query, Request
from sqlalchemy.exc import IntegrityError

from app.accounts.tenants import NameTakenError, TenantCollection, tenant_collection
from app.errors import AppError
from app.jobs.job import JobStateError, KeyReusedError
from app.jobs.staging import BadNameError
from app.pipeline import Pipeline
from app.service.engine.answering import QueryService
from app.service.http.errors import ApiError
from app.service.http.problems import problem, storage_problem
from retrieval.errors import CollectionBusyError

LOGGER = "plumbline.service"
_THREADS = 8
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
_P = ParamSpec("_P")
_T = TypeVar("_T")

Limit = Annotated[int, Query(ge=1, le=1000, description="maximum number of items to return")]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1, description="number of items to skip")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
        description="idempotency key: a repeated request with the same key is not executed again",
    ),
]


class Resources:
    """The pipeline for routes that wait for the database. It has a small thread pool, so that queries keep theirs."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self._threads = anyio.CapacityLimiter(_THREADS)
        self._log = logging.getLogger(LOGGER)

    async def do(self, work: Callable[_P, _T], *arguments: _P.args, **named: _P.kwargs) -> _T:
        """Run the work in a thread. Raises ApiError for errors that clients can act on, and other errors unchanged."""

        def run() -> _T:
            return work(*arguments, **named)

        try:
            return await anyio.to_thread.run_sync(run, limiter=self._threads)
        except Exception as error:  # becomes an error object, or is raised again
            mapped = client_error(error, self._log)
            if mapped is error:
                raise
            raise mapped from error

    def own(self, tenant: str, name: str) -> TenantCollection:
        """Return the tenant's collection.

        Raises ApiError 404. The message is the same whether or not another tenant has a collection of this name.
        """
        collection = tenant_collection(self.pipeline.store, tenant, name) if _NAME.fullmatch(name) else None
        if collection is None:
            raise missing("collection")
        return collection


async def resources(request: Request) -> Resources:
    """Return the app's Resources, created on the first request."""
    state = request.app.state
    existing = getattr(state, "resources", None)
    if not isinstance(existing, Resources):
        answering = state.answering
        assert isinstance(answering, QueryService)  # noqa: S101 - the lifespan puts nothing else there
        existing = state.resources = Resources(answering.pipeline)
    return existing


def missing(what: str) -> ApiError:
    """Return a 404 error for an object that does not exist or belongs to another tenant. what: kind of the object."""
    return ApiError(404, f"there is no such {what}", code=f"{what}_not_found")


def refuse_other_sites(request: Request) -> None:
    """Raise ApiError 403 for a request from a page of another site, recognised by the browser's origin headers."""
    origin = request.headers.get("origin")
    try:
        foreign = origin is not None and urlsplit(origin).netloc.lower() != request.headers.get("host", "").lower()
    except ValueError:
        foreign = True
    if foreign or request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise ApiError(403, "this request was sent by a page of another site", code="foreign_origin")


def client_error(error: Exception, log: logging.Logger) -> Exception:
    """Return the ApiError for an error that a client can act on; any other error unchanged."""
    conflicts: tuple[tuple[type[Exception], str], ...] = (
        (NameTakenError, "collection_exists"),
        (JobStateError, "job_state"),
    )
    for kind, code in conflicts:
        if isinstance(error, kind):
            return ApiError(409, str(error), code=code)
    if isinstance(error, IntegrityError):  # deleted, or created by another request, between two steps
        return ApiError(409, "the object was changed by another request: try again", code="conflict", retry_after=1)
    if isinstance(error, KeyReusedError):
        return ApiError(422, str(error), code="idempotency_key_reused", param="Idempotency-Key")
    if isinstance(error, BadNameError):
        return ApiError(422, str(error), code="invalid_value", param="files")
    if isinstance(error, CollectionBusyError):
        message = "the collection is being indexed: cancel its job, or wait for it"
        return ApiError(409, message, code="collection_busy", retry_after=5)
    if isinstance(error, OSError):
        return storage_problem(error, log)
    return problem(error, log)


def refused(error: AppError | Exception, param: str | None = None) -> ApiError:
    """Return a 422 error with the message of an error in the request. param: name of the invalid field."""
    return ApiError(422, str(error), code="invalid_value", param=param)
