"""Limit a request's body in bytes, in seconds, and by the memory of all bodies in flight, while its route reads it.

Nothing is read before the route requests it, which is after authentication and admission.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.service.http.body_budget import FREE_BYTES, BodyBudget
from app.service.http.errors import CLIENT_GONE, ApiError, error_response

BODY_TIMEOUT_S = 30.0
_DRAINED = 65_536
"""Bytes of an unread body that are drained to keep its connection."""


class BodyLimit:
    """ASGI middleware that limits request bodies.

    Reading a body raises ApiError 408, 413, 429, and 499 if the client disconnects before the end. A response to a
    request with much of its body unread closes the connection.

    limit: maximum bytes received, regardless of Content-Length.
    timeout_s: maximum seconds until the complete body has arrived.
    other: returns the limit of a path; None if the path's route reads, and limits, the body itself.
    budget: memory of all bodies together; None for no budget.
    """

    def __init__(
        self,
        app: ASGIApp,
        limit: int,
        timeout_s: float = BODY_TIMEOUT_S,
        other: Callable[[str], int | None] | None = None,
        budget: BodyBudget | None = None,
    ) -> None:
        self._app = app
        self._limit = limit
        self._timeout_s = timeout_s
        self._other = other
        self._budget = budget

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; see ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit if self._other is None else self._other(scope["path"])
        body = _Body(receive, limit, self._timeout_s, self._budget, Headers(scope=scope))

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and body.unread:
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        try:
            await self._app(scope, body.receive, sending)
        except ApiError as error:  # raised by a reader outside of the routes, which handle it themselves
            if error.status != CLIENT_GONE:
                await error_response(error)(scope, receive, sending)
        finally:
            body.release()


class _Body:
    """The body of one request. limit: maximum bytes; None if the body is neither limited nor counted here."""

    def __init__(
        self, receive: Receive, limit: int | None, timeout_s: float, budget: BodyBudget | None, headers: Headers
    ) -> None:
        self._receive, self._limit, self._timeout_s, self._budget = receive, limit, timeout_s, budget
        declared = headers.get("content-length", "")
        self._declared = int(declared) if declared.isdecimal() and len(declared) <= 18 else None
        self._too_long = declared.isdecimal() and len(declared) > 18
        self._chunked = "transfer-encoding" in headers
        self._read = self._taken = 0
        self._due: float | None = None
        self._whole = False

    @property
    def unread(self) -> bool:
        """Whether so much of the body is unread that closing the connection is cheaper than draining it."""
        if self._whole:
            return False
        return self._chunked or self._too_long or (self._declared or 0) - self._read > _DRAINED

    async def receive(self) -> Message:
        """Return the next message; see ASGI."""
        if self._whole:
            return await self._receive()
        if self._limit is not None and (self._too_long or (self._declared or 0) > self._limit):
            raise too_large(self._limit)
        message = await self._next()
        if message["type"] == "http.disconnect":
            raise ApiError(CLIENT_GONE, "the client has disconnected", code="client_gone")
        size = len(message.get("body", b""))
        self._read += size
        if self._limit is not None:
            if self._read > self._limit:
                raise too_large(self._limit)
            self._reserve()
        self._whole = not message.get("more_body", False)
        return message

    async def _next(self) -> Message:
        if self._limit is None:
            return await self._receive()
        loop = asyncio.get_running_loop()
        self._due = self._due or loop.time() + self._timeout_s
        try:
            async with asyncio.timeout_at(self._due):
                return await self._receive()
        except TimeoutError:
            message = f"the body did not arrive within {self._timeout_s:g} seconds"
            raise ApiError(408, message, code="request_timeout") from None

    def _reserve(self) -> None:
        if self._budget is not None:
            more = max(0, self._read - FREE_BYTES) - self._taken
            self._budget.take(more)
            self._taken += more

    def release(self) -> None:
        """Release the memory that this body reserved."""
        if self._budget is not None:
            self._budget.give_back(self._taken)
        self._taken = 0


def too_large(limit: int) -> ApiError:
    """Return the 413 error. limit: maximum bytes."""
    return ApiError(413, f"the body is larger than {limit} bytes: send less", code="body_too_large")
