"""Handle errors after the status was sent, and clients that disconnect before the response."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import TypeVar

from starlette.requests import Request

from app.service.http.errors import CLIENT_GONE, ApiError, without_message
from app.service.http.problems import problem
from app.service.http.sse import client_gone
from app.service.observability.logs import LOGGER, REQUEST_ID

T = TypeVar("T")


def streamed_error(error: Exception) -> ApiError:
    """Return the ApiError to send as an event. An unexpected error is logged without its message, which may quote
    documents.
    """
    known = problem(error, logging.getLogger(LOGGER))
    if isinstance(known, ApiError):
        return known
    request_id = REQUEST_ID.get()
    logging.getLogger(LOGGER).error("%s internal error\n%s", request_id, without_message(error))
    return ApiError(
        500,
        f"internal error; the server's log has details under the request id {request_id}",
        code="internal_error",
    )


async def unless_disconnected(request: Request, work: Coroutine[None, None, T]) -> T:
    """Return the result of the work. If the client disconnects, cancel the work and raise ApiError 499, for the log."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(client_gone(request.receive))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ApiError(CLIENT_GONE, "the client has disconnected", code="client_gone")
    finally:
        leaving.cancel()
        if not working.done():
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
