"""Reads a request's body whole, up to a limit in bytes and seconds, before anything else sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.service.errors import ApiError, error_response

BODY_TIMEOUT_S = 30.0


class BodyLimit:
    """ASGI middleware. limit: bytes; what counts is what arrives, whatever Content-Length promises.

    other: the limit of a path that has another one; None where the route reads, and limits, the body itself.
    """

    def __init__(
        self,
        app: ASGIApp,
        limit: int,
        timeout_s: float = BODY_TIMEOUT_S,
        other: Callable[[str], int | None] | None = None,
    ) -> None:
        self._app = app
        self._limit = limit
        self._timeout_s = timeout_s
        self._other = other

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; see ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit if self._other is None else self._other(scope["path"])
        if limit is None:
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._timeout_s):
                body = await self._read(scope, receive, limit)
        except ApiError as error:
            await error_response(error)(scope, receive, send)
            return
        except TimeoutError:
            late = ApiError(408, f"the body did not arrive within {self._timeout_s:g} seconds", code="request_timeout")
            await error_response(late)(scope, receive, send)
            return
        if body is None:
            return
        first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return first.pop() if first else await receive()

        await self._app(scope, replay, send)

    async def _read(self, scope: Scope, receive: Receive, limit: int) -> bytes | None:
        """The body; None when the client left. Raises ApiError 413 past the limit."""
        promised = Headers(scope=scope).get("content-length", "")
        if promised.isdecimal() and (len(promised) > 18 or int(promised) > limit):
            raise too_large(limit)
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > limit:
                raise too_large(limit)
            if not message.get("more_body", False):
                return bytes(body)


def too_large(limit: int) -> ApiError:
    """413. limit: bytes."""
    return ApiError(413, f"the body is larger than {limit} bytes: send less", code="body_too_large")
