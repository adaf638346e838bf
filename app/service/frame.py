"""The frame around every request: its id, its line in the access log, and what becomes of an error nobody expected.

Neither log nor response ever holds a query string, a body or the message of an unexpected error: those quote questions
and documents.
"""

from __future__ import annotations

import logging
import re
import traceback
import uuid
from collections.abc import Collection
from time import perf_counter
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.service.errors import ApiError, error_response

LOGGER = "plumbline.service"
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
CLIENT_GONE = 499
"""For the log: the client left before there was a response."""


class RequestFrame:
    """ASGI middleware, the outermost. allowed_hosts: names that the Host header may hold; None lets any through."""

    def __init__(self, app: ASGIApp, allowed_hosts: Collection[str] | None = None) -> None:
        self._app = app
        self._hosts = None if allowed_hosts is None else frozenset(host.lower() for host in allowed_hosts)
        self._log = logging.getLogger(LOGGER)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; see ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = _request_id(headers.get("x-request-id"))
        scope.setdefault("state", {})["request_id"] = request_id
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
                sent = MutableHeaders(scope=message)
                sent["X-Request-Id"] = request_id
                sent["X-Content-Type-Options"] = "nosniff"
                sent["Cache-Control"] = "no-store"
            await send(message)

        started = perf_counter()
        try:
            if self._hosts is not None and _host_name(headers.get("host", "")) not in self._hosts:
                refused = ApiError(403, "this service answers to its own host names only", code="host_not_allowed")
                await error_response(refused)(scope, receive, sending)
            else:
                await self._app(scope, receive, sending)
        except Exception as error:  # the outermost frame: a client gets a 500 with its id, the log the rest
            self._log.error("%s internal error\n%s", request_id, _without_message(error))
            if not status:
                hidden = ApiError(
                    500,
                    f"internal error; the server's log says more under the request id {request_id}",
                    code="internal_error",
                )
                await error_response(hidden)(scope, receive, sending)
        finally:
            self._log.info(
                "%s %s %s %d %.0f ms",
                request_id,
                quote(scope["method"], safe=""),
                # Quoted: a line break in a path must not make a line of the log.
                quote(scope["path"][:200], safe="/", errors="replace"),
                status or CLIENT_GONE,
                1000 * (perf_counter() - started),
            )


def _request_id(given: str | None) -> str:
    if given is not None and _ID.fullmatch(given):
        return given
    return uuid.uuid4().hex


def _host_name(host: str) -> str:
    """The Host header without its port."""
    return re.sub(r":\d*$", "", host.strip().lower()) if not host.endswith("]") else host.strip().lower()


def _without_message(error: BaseException) -> str:
    parts: list[str] = []
    seen: BaseException | None = error
    while seen is not None:
        kind = f"{type(seen).__module__}.{type(seen).__qualname__}\n"
        parts.append("".join(traceback.format_tb(seen.__traceback__)) + kind)
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "caused by\n".join(parts).rstrip()
