"""The paths of the API."""

from __future__ import annotations

import email.message
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute

from app.service.answering import Answering
from app.service.errors import ApiError, error_body
from app.service.health import not_ready
from app.service.schemas import (
    CollectionReply,
    CollectionsReply,
    ErrorReply,
    LiveReply,
    NotReadyReply,
    QueryBody,
    QueryReply,
    ReadyReply,
)

_RETRY = {"Retry-After": {"description": "seconds", "schema": {"type": "integer"}}}


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    meanings = {
        400: "The body is not JSON",
        404: "No such collection",
        408: "The body did not arrive in time",
        413: "The body is too large",
        415: "The body is not application/json",
        422: "A value that cannot be used; param names it",
        429: "Too many requests wait",
        500: "Internal error",
        503: "Not ready, or a part is not available",
    }
    return {
        status: {
            "model": ErrorReply,
            "description": meanings[status],
            **({"headers": _RETRY} if status in (429, 503) else {}),
        }
        for status in statuses
    }


class _JsonRoute(APIRoute):
    """A route whose body is JSON and says so. A page of another site cannot send that without asking first (CORS)."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        inner = super().get_route_handler()

        async def handler(request: Request) -> Response:
            if request.method == "POST":
                await _require_json(request)
            return await inner(request)

        return handler


async def _require_json(request: Request) -> None:
    header = email.message.Message()
    header["content-type"] = request.headers.get("content-type", "")
    if header.get_content_type() != "application/json" or not request.headers.get("content-type"):
        raise ApiError(415, "send the body as Content-Type: application/json", code="unsupported_media_type")
    if not (await request.body()).strip():
        raise ApiError(400, 'the body is empty: send a JSON object such as {"question": "..."}', code="invalid_json")


def answering(request: Request) -> Answering:
    """What answers, as the lifespan made it."""
    service = request.app.state.answering
    assert isinstance(service, Answering)  # noqa: S101 - the lifespan puts nothing else there
    return service


Service = Annotated[Answering, Depends(answering)]

router = APIRouter(route_class=_JsonRoute)


@router.post(
    "/v1/query",
    response_model=QueryReply,
    summary="Answer a question, with citations and sources",
    responses=_errors(400, 404, 408, 413, 415, 422, 429, 500, 503),
    tags=["query"],
)
async def query(body: QueryBody, request: Request, service: Service) -> Any:
    """Retrieve, generate, and return the answers with what they were given."""
    result = await service.answer(body.to_request(), request.is_disconnected)
    return result.to_json()


@router.get(
    "/v1/collections",
    summary="The collections, and the index that answers for each",
    responses=_errors(500, 503),
    tags=["collections"],
)
async def collections(service: Service) -> CollectionsReply:
    """All collections, by name."""
    infos = await anyio.to_thread.run_sync(service.collections)
    return CollectionsReply(
        data=[
            CollectionReply(
                name=info.name,
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


@router.get("/livez", summary="Whether the process answers", tags=["health"])
async def livez() -> LiveReply:
    """Always 200."""
    return LiveReply()


@router.get(
    "/readyz",
    response_model=ReadyReply,
    summary="Whether model, database and every published collection are open",
    responses={503: {"model": NotReadyReply, "description": "Not ready, with reasons", "headers": _RETRY}},
    tags=["health"],
)
async def readyz(service: Service) -> Any:
    """200 when ready, 503 with the reasons when not."""
    found = await service.health.readiness()
    if not found.reasons and found.model is not None:
        return ReadyReply(model=found.model, collections=list(found.collections))
    error = not_ready("; ".join(found.reasons))
    body = {**error_body(error.status, error.message, error.code), "reasons": list(found.reasons)}
    return JSONResponse(body, status_code=error.status, headers={"Retry-After": str(error.retry_after)})
