"""Answers queries: checks what only the server's settings can refuse, waits its turn, and names what went wrong."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio.to_thread

from app.answers import QueryRequest, QueryResult
from app.errors import AppError
from app.pipeline import Pipeline
from app.service.errors import ApiError
from app.service.frame import CLIENT_GONE, LOGGER
from app.service.gate import Gate
from app.service.health import Health, not_ready
from data.errors import DataError, StoreBusyError
from generation.errors import GenerationError, UnavailableError
from model.errors import ModelError
from retrieval.collections import CollectionInfo, list_collections
from retrieval.errors import RetrievalError

Disconnected = Callable[[], Awaitable[bool]]


class Answering:
    """One pipeline behind one queue. Made inside the event loop that it serves."""

    def __init__(self, pipeline: Pipeline, health: Health) -> None:
        self.pipeline = pipeline
        self.health = health
        self.gate = Gate(pipeline.settings.max_queue)
        self._log = logging.getLogger(LOGGER)

    async def answer(self, request: QueryRequest, disconnected: Disconnected) -> QueryResult:
        """Answer in a worker thread, in turn. disconnected: whether the client has left, asked before the work starts.

        Raises ApiError: 404 and 422 for the request, 429 when the queue is full, 503 when something is not ready.
        """
        if not self.health.parts.all_open:
            raise not_ready()
        self._check_limits(request)
        async with self.gate.turn():
            if await disconnected():
                raise ApiError(CLIENT_GONE, "the client has left", code="client_gone")
            # A cancelled request (shutdown) leaves its thread behind, which nobody can stop.
            return await anyio.to_thread.run_sync(self._answer, request, abandon_on_cancel=True)

    def collections(self) -> tuple[CollectionInfo, ...]:
        """All collections, by name. Raises ApiError 503 when the database does not answer."""
        try:
            return list_collections(self.pipeline.store)
        except (DataError, RetrievalError) as error:
            raise self._unavailable(error) from error

    def _check_limits(self, request: QueryRequest) -> None:
        settings, params = self.pipeline.settings, request.params
        most, given = settings.max_question_characters, len(request.question)
        if given > most:
            raise _refused(f"question has {given} characters: this server takes at most {most}", "question")
        if params.n > settings.max_samples:
            raise _refused(f"n is {params.n}: this server draws at most {settings.max_samples} samples", "n")
        context = self.pipeline.generator.context_length
        if params.max_tokens >= context:
            raise _refused(
                f"max_tokens is {params.max_tokens}: it must be less than the model's context of {context} tokens",
                "max_tokens",
            )

    def _answer(self, request: QueryRequest) -> QueryResult:
        self._check_collection(request)
        try:
            return self.pipeline.answer(request)
        except UnavailableError as error:
            self._log.error("cannot answer: %s", error)
            raise ApiError(
                503, "the model's server is not available: try again", code="model_unavailable", retry_after=30
            ) from error
        except GenerationError as error:
            raise ApiError(422, f"question: {error}", code="context_length_exceeded", param="question") from error
        except (AppError, DataError, ModelError, RetrievalError) as error:
            raise self._unavailable(error) from error

    def _check_collection(self, request: QueryRequest) -> None:
        name = request.collection
        if name is None and not request.retrieval:
            return
        published = {info.name: info.generation_hash for info in self.collections()}
        if name is None and len(published) == 1:
            name = next(iter(published))
        if name is None and published:
            raise _refused(f"name a collection: {', '.join(published)}", "collection")
        if name is None or name not in published:
            what = "there is no collection yet" if name is None else f"there is no collection {name!r}"
            known = f"; the known ones are {', '.join(published)}" if published else ""
            raise ApiError(404, what + known, code="collection_not_found", param="collection")
        if request.retrieval and published[name] is None:
            raise ApiError(
                503,
                f"the collection {name!r} has no published index: its indexing did not end",
                code="collection_not_ready",
                param="collection",
                retry_after=30,
            )

    def _unavailable(self, error: Exception) -> ApiError:
        """Files and paths are for the log; a client learns which part failed, and that it may try again."""
        if isinstance(error, StoreBusyError):
            return ApiError(503, "the database is busy: try again", code="database_busy", retry_after=1)
        self._log.error("cannot answer: %s", error)
        kinds = ((DataError, "database"), (RetrievalError, "collection"))
        part = next((name for kind, name in kinds if isinstance(error, kind)), "service")
        return ApiError(
            503,
            f"the {part} is not available; GET /readyz gives the reason",
            code=f"{part}_unavailable",
            retry_after=30,
        )


def _refused(message: str, param: str) -> ApiError:
    return ApiError(422, message, code="invalid_value", param=param)
