"""What the routes of collections, jobs and evaluations have in common: threads of their own, and errors' meanings."""

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

from app.accounts.tenants import OwnCollection, TakenError, own_collection
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

Limit = Annotated[int, Query(ge=1, le=1000, description="most to return")]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1, description="how many to pass over")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
        description="a name of your own for this request: sent again with the same name, it is not done again",
    ),
]


class Resources:
    """The pipeline, for routes that wait for the database: in few threads, so that answers have theirs."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self._threads = anyio.CapacityLimiter(_THREADS)
        self._log = logging.getLogger(LOGGER)

    async def do(self, work: Callable[_P, _T], *arguments: _P.args, **named: _P.kwargs) -> _T:
        """Do the work in a thread. Raises ApiError for what went wrong, where a client can learn it."""

        def run() -> _T:
            return work(*arguments, **named)

        try:
            return await anyio.to_thread.run_sync(run, limiter=self._threads)
        except Exception as error:
            found = meaning(error, self._log)
            if found is error:
                raise
            raise found from error

    def own(self, tenant: str, name: str) -> OwnCollection:
        """The tenant's collection. Raises ApiError 404, in the same words whoever else may have one of this name."""
        found = own_collection(self.pipeline.store, tenant, name) if _NAME.fullmatch(name) else None
        if found is None:
            raise missing("collection")
        return found


async def resources(request: Request) -> Resources:
    """What the routes work with; made with the app's first request for one of them."""
    state = request.app.state
    found = getattr(state, "resources", None)
    if not isinstance(found, Resources):
        answering = state.answering
        assert isinstance(answering, QueryService)  # noqa: S101 - the lifespan puts nothing else there
        found = state.resources = Resources(answering.pipeline)
    return found


def missing(what: str) -> ApiError:
    """404 for what is not there, or not the caller's, which are the same."""
    return ApiError(404, f"there is no such {what}", code=f"{what}_not_found")


def refuse_other_sites(request: Request) -> None:
    """Pages of other sites can send forms here too; browsers say where a request comes from. Raises ApiError 403."""
    origin = request.headers.get("origin")
    try:
        foreign = origin is not None and urlsplit(origin).netloc.lower() != request.headers.get("host", "").lower()
    except ValueError:
        foreign = True
    if foreign or request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise ApiError(403, "this request was sent by a page of another site", code="foreign_origin")


def meaning(error: Exception, log: logging.Logger) -> Exception:
    """The error to raise in place of ``error``: an ApiError where a client can do something about it."""
    conflicts: tuple[tuple[type[Exception], str], ...] = (
        (TakenError, "collection_exists"),
        (JobStateError, "job_state"),
    )
    for kind, code in conflicts:
        if isinstance(error, kind):
            return ApiError(409, str(error), code=code)
    if isinstance(error, IntegrityError):  # deleted, or made by somebody else, between two steps
        return ApiError(409, "it was changed by another request meanwhile: try again", code="conflict", retry_after=1)
    if isinstance(error, KeyReusedError):
        return ApiError(422, str(error), code="idempotency_key_reused", param="Idempotency-Key")
    if isinstance(error, BadNameError):
        return ApiError(422, str(error), code="invalid_value", param="files")
    if isinstance(error, CollectionBusyError):
        said = "the collection is being indexed: cancel its job, or wait for it"
        return ApiError(409, said, code="collection_busy", retry_after=5)
    if isinstance(error, OSError):
        return storage_problem(error, log)
    return problem(error, log)


def refused(error: AppError | Exception, param: str | None = None) -> ApiError:
    """422 in the words of an error that speaks of the request only."""
    return ApiError(422, str(error), code="invalid_value", param=param)
