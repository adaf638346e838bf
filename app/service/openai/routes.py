"""OpenAI-compatible paths: chat completions and models. A model is a collection or the generator."""

from __future__ import annotations

import time
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, Request

from app.service.api.json_route import JsonRoute, error_responses
from app.service.api.routes import MayQuery, Service
from app.service.engine.answering import QueryService
from app.service.engine.health import not_ready
from app.service.engine.live_query import LiveQuery
from app.service.http.errors import ApiError
from app.service.http.sse import EVENTS_CONTENT, EventStream
from app.service.http.stream_errors import unless_disconnected
from app.service.openai.chat_query import ChatQuery, convert_chat
from app.service.openai.chunks import chat_chunks
from app.service.openai.replies import ChatHead, chat_json
from app.service.openai.schemas import ChatBody, ChatReply, ModelReply, ModelsReply
from generation.live import EngineGenerator

_STREAM = {
    "description": "The completion, or with ``stream`` chunks as server-sent events",
    "content": EVENTS_CONTENT,
}

chat_router = APIRouter(route_class=JsonRoute, tags=["openai"])


@chat_router.post(
    "/v1/chat/completions",
    response_model=ChatReply,
    summary="Answer the last question of a conversation (OpenAI-compatible)",
    responses={200: _STREAM, **error_responses(400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 503)},
)
async def chat(body: ChatBody, request: Request, service: Service, caller: MayQuery) -> Any:
    """Retrieve from the collection that ``model`` names, generate, and return the answer at once or in chunks."""
    if not service.health.parts.all_open:
        raise not_ready()
    generator = service.pipeline.generator
    chat = convert_chat(body, caller, generator)
    try:
        live = await unless_disconnected(request, service.begin(chat.query))
        head = _head(body, chat, live, service)
        if body.stream:
            usage = body.stream_options is not None and body.stream_options.include_usage
            return EventStream(chat_chunks(live, head, generator, usage=usage), live.cancel)
        try:
            result = await unless_disconnected(request, live.result())
        finally:
            live.cancel()
    except ApiError as error:
        raise _as_openai(error, body.model) from error
    return chat_json(head, result, live.query.request.question, generator)


@chat_router.get(
    "/v1/models",
    summary="List the collections and the generator as models (OpenAI-compatible)",
    responses=error_responses(401, 403, 429, 500, 503),
)
async def models(service: Service, caller: MayQuery) -> ModelsReply:
    """Return the published collections by name, then the generator, which answers without documents."""
    return ModelsReply(data=await anyio.to_thread.run_sync(_models, service, caller.tenant))


@chat_router.get(
    "/v1/models/{model}",
    summary="Show one model (OpenAI-compatible)",
    responses=error_responses(401, 403, 404, 429, 500, 503),
)
async def one_model(model: str, service: Service, caller: MayQuery) -> ModelReply:
    """Return one model of the list."""
    known = await anyio.to_thread.run_sync(_models, service, caller.tenant)
    entry_found = next((entry for entry in known if entry.id == model), None)
    if entry_found is None:
        raise _unknown(model)
    return entry_found


def _models(service: QueryService, tenant: str) -> list[ModelReply]:
    if not service.health.parts.all_open:
        raise not_ready()
    generator_name = service.pipeline.generator.name
    published = [
        ModelReply(id=info.label or info.name, created=int(info.published_at.timestamp()))
        for info in service.collections(tenant)
        if info.published_at is not None
    ]
    return [*(model for model in published if model.id != generator_name), ModelReply(id=generator_name, created=0)]


def _head(body: ChatBody, chat: ChatQuery, live: LiveQuery, service: QueryService) -> ChatHead:
    generator = service.pipeline.generator
    # A server's fingerprint needs a network request, which must not delay an answer.
    local = generator.fingerprint if isinstance(generator, EngineGenerator) else generator.name
    fingerprint = f"plumbline-{local[:12]}"
    return ChatHead(live.id, int(time.time()), body.model, fingerprint, chat.seed, chat.notes, bool(body.logprobs))


def _as_openai(error: ApiError, model: str) -> ApiError:
    """Return the error in the terms of this interface.

    Status 400 stands for invalid values, the model for the collection, and messages for the question.
    """
    if error.code in ("collection_not_found", "collection_not_ready") or error.param == "collection":
        return _unknown(model) if error.status in (404, 422) else error
    status = 400 if error.status == 422 else error.status
    param = "messages" if error.param == "question" else error.param
    return ApiError(status, error.message, code=error.code, param=param, retry_after=error.retry_after)


def _unknown(model: str) -> ApiError:
    return ApiError(
        404,
        f"the model {model[:100]!r} does not exist: a model is a collection, or the generator; see /v1/models",
        code="model_not_found",
        param="model",
    )
