"""/v1/watch: hallucination rates in service by certificate, and alarms."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from app.accounts.tenants import tenant_collections
from app.service.api.json_route import error_responses
from app.service.api.resources import Resources, missing, resources
from app.service.api.watch_schemas import WatchesReply
from app.service.http.access import Caller, require
from app.watching.status import CollectionWatch, UnknownWatchError, Watching
from app.watching.status_json import status_json

watch_router = APIRouter(tags=["watch"])
Evaluator = Annotated[Caller, Depends(require("evaluate"))]
ResourcesDep = Annotated[Resources, Depends(resources)]


async def watching(request: Request) -> Watching:
    """Return the app's Watching, created on the first request."""
    state = request.app.state
    existing = getattr(state, "watching", None)
    if not isinstance(existing, Watching):
        existing = state.watching = Watching(state.answering.pipeline)
    return existing


WatchingDep = Annotated[Watching, Depends(watching)]


def own_status(
    pipeline_watch: Watching, resources: Resources, caller: Caller, name: str | None = None
) -> tuple[CollectionWatch, ...]:
    """Return the watches of the caller's collections. name: a collection or the ID of a certificate; None selects all.
    Raises ApiError 404 if the caller has no such watch.
    """
    try:
        return pipeline_watch.status(tenant_collections(resources.pipeline.store, caller.tenant), name)
    except UnknownWatchError as error:
        raise missing("watch") from error


@watch_router.get(
    "/v1/watch",
    response_model=WatchesReply,
    summary="List rates in service and alarms",
    responses=error_responses(401, 403, 429, 500, 503),
)
async def show_all(caller: Evaluator, resources: ResourcesDep, watched: WatchingDep) -> Any:
    """Return the watches of the caller's collections that have audits or certificates. The absence of an alarm never
    renews a certificate.
    """
    return status_json(await resources.do(own_status, watched, resources, caller))


@watch_router.get(
    "/v1/watch/{name}",
    response_model=WatchesReply,
    summary="Show rate in service and alarms of a collection or a certificate",
    responses=error_responses(401, 403, 404, 429, 500, 503),
)
async def show(name: str, caller: Evaluator, resources: ResourcesDep, watched: WatchingDep) -> Any:
    """Return the watches of one collection or certificate. name: name of the collection, or ID of the certificate."""
    return status_json(await resources.do(own_status, watched, resources, caller, name))
