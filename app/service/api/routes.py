"""The main paths of the API: queries, collections, health, metrics."""

from __future__ import annotations

from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response

from app.service.api.json_route import RETRY_HEADER, JsonRoute, error_responses
from app.service.api.query_body import QueryBody
from app.service.api.query_events import query_events
from app.service.api.schemas import CollectionReply, CollectionsReply, LiveReply, NotReadyReply, QueryReply, ReadyReply
from app.service.api.watch import WatchingDep
from app.service.engine.answering import QueryService
from app.service.engine.gauges import index_ages, watch_figures
from app.service.engine.health import not_ready
from app.service.http.access import Caller, recognised, require
from app.service.http.errors import error_body
from app.service.http.sse import EVENTS_CONTENT, EventStream
from app.service.http.stream_errors import unless_disconnected
from app.service.observability.metrics import CONTENT_TYPE

_STREAM = {
    "description": "The answer; with ``stream``, server-sent events: sources, text, answers, policy, verdicts, done "
    "(or error)",
    "content": EVENTS_CONTENT,
}


async def answering(request: Request) -> QueryService:
    """Return the QueryService that the lifespan created."""
    service = request.app.state.answering
    assert isinstance(service, QueryService)  # noqa: S101 - the lifespan puts nothing else there
    return service


Service = Annotated[QueryService, Depends(answering)]
MayQuery = Annotated[Caller, Depends(require("query"))]

router = APIRouter(route_class=JsonRoute)


@router.post(
    "/v1/query",
    response_model=QueryReply,
    summary="Answer a question, with citations and sources",
    responses={200: _STREAM, **error_responses(400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 503)},
    tags=["query"],
)
async def query(body: QueryBody, request: Request, service: Service, caller: MayQuery) -> Any:
    """Retrieve, generate, and return the answers with their sources, as one response or as a stream."""
    pending = body.to_pending(caller)
    if body.stream:
        live = await unless_disconnected(request, service.begin(pending))
        return EventStream(query_events(live), live.cancel)
    result = await unless_disconnected(request, service.answer(pending))
    return result.to_json()


@router.get(
    "/v1/collections",
    summary="List collections and their published indexes",
    responses=error_responses(401, 403, 429, 500, 503),
    tags=["collections"],
)
async def collections(service: Service, caller: MayQuery) -> CollectionsReply:
    """Return all collections of the caller's tenant, sorted by name."""
    infos = await anyio.to_thread.run_sync(service.collections, caller.tenant)
    return CollectionsReply(
        data=[
            CollectionReply(
                name=info.label or info.name,
                documents=info.documents,
                chunks=info.chunks,
                generation=info.generation_hash,
                encoder=info.encoder,
                created_at=info.created_at,
                published_at=info.published_at,
            )
            for info in infos
        ]
    )


@router.get("/livez", summary="Check whether the process responds", tags=["health"])
async def livez() -> LiveReply:
    """Return 200 whenever the process responds."""
    return LiveReply()


@router.get(
    "/readyz",
    response_model=ReadyReply,
    summary="Check whether model, database and every published collection are available",
    responses={503: {"model": NotReadyReply, "description": "Not ready, with reasons", "headers": RETRY_HEADER}},
    tags=["health"],
)
async def readyz(service: Service, request: Request) -> Any:
    """Return 200 if the service is ready, or 503 with the reasons. If keys are required, a request without a valid key
    gets counts only, without names and details.
    """
    readiness = await service.health.readiness()
    caller = await recognised(request)
    if not readiness.problems and readiness.model is not None:
        return ReadyReply(
            model=readiness.model,
            collections=list(readiness.names(caller)),
            collection_count=len(readiness.collections),
        )
    reasons = list(readiness.reasons(caller))
    error = not_ready("; ".join(reasons))
    body = {**error_body(error.status, error.message, error.code), "reasons": reasons}
    return JSONResponse(body, status_code=error.status, headers={"Retry-After": str(error.retry_after)})


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Text format 0.0.4"},
        **error_responses(401, 403, 429, 500, 503),
    },
    tags=["health"],
)
async def metrics(
    service: Service, caller: Annotated[Caller, Depends(require("admin"))], watched: WatchingDep
) -> Response:
    """Return latency by stage, tokens, queue, batch sizes, cache hits and verdict shares. Index ages and watches are
    those of the caller's tenant; indexes of other tenants are only counted.
    """
    indexes = await anyio.to_thread.run_sync(index_ages, service, caller.tenant)
    text = await anyio.to_thread.run_sync(service.metrics.text, indexes)
    text += await anyio.to_thread.run_sync(watch_figures, watched, service, caller.tenant)
    return Response(text, media_type=CONTENT_TYPE)
