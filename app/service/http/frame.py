"""Middleware around all requests: the request's ID, its access log line, and the handling of unexpected errors.

Neither log nor response contains a query string, a body or the message of an unexpected error, because those may quote
questions and documents.
"""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Callable, Collection
from time import perf_counter
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.service.http.early_refusal import REFUSED_PATH
from app.service.http.errors import CLIENT_GONE, ApiError, error_response, without_message
from app.service.http.problems import problem
from app.service.observability.logs import LOGGER, REQUEST_ID, log_event
from app.service.observability.metrics import Metrics

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RequestFrame:
    """ASGI middleware around all others except SubPath.

    allowed_hosts: valid Host headers; None allows any.
    metrics: counts every request; None for no metrics.
    closing: returns whether the server is stopping, so that connections are not kept alive.
    """

    def __init__(
        self,
        app: ASGIApp,
        allowed_hosts: Collection[str] | None = None,
        metrics: Metrics | None = None,
        closing: Callable[[], bool] = lambda: False,
    ) -> None:
        self._app, self._metrics, self._closing = app, metrics, closing
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
        REQUEST_ID.set(request_id)  # each request has its own context
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
                sent = MutableHeaders(scope=message)
                sent["X-Request-Id"] = request_id
                sent["X-Content-Type-Options"] = "nosniff"
                sent["Cache-Control"] = "no-store"
                sent["X-Frame-Options"] = "DENY"
                sent.setdefault("Content-Security-Policy", "frame-ancestors 'none'")
                if self._closing():
                    sent["Connection"] = "close"
            await send(message)

        started = perf_counter()
        try:
            if self._hosts is not None and _host_name(headers.get("host", "")) not in self._hosts:
                refused = ApiError(403, "the Host header is not a host name of this service", code="host_not_allowed")
                await error_response(refused)(scope, receive, sending)
            else:
                await self._app(scope, receive, sending)
        except Exception as error:  # the last handler: the client gets a 500 with the request id, the log the details
            api_error = problem(error, self._log)
            if not isinstance(api_error, ApiError):
                self._log.error("%s internal error\n%s", request_id, without_message(error))
                api_error = ApiError(
                    500,
                    f"internal error; the server's log has details under the request id {request_id}",
                    code="internal_error",
                )
            if not status:
                await error_response(api_error)(scope, receive, sending)
        finally:
            seconds = perf_counter() - started
            # Quoted: a line break in a path must not create a log line.
            method, path = quote(scope["method"], safe=""), quote(scope["path"][:200], safe="/", errors="replace")
            log_event(
                self._log,
                "request",
                f"{method} {path} {status or CLIENT_GONE} {1000 * seconds:.0f} ms",
                method=method,
                path=path,
                status=status or CLIENT_GONE,
                seconds=round(seconds, 6),
            )
            if self._metrics is not None:
                self._metrics.request(_known_method(method), _route(scope), status or CLIENT_GONE, seconds)


def _route(scope: Scope) -> str:
    """Return the path as the route declares it; one placeholder for all unmatched paths."""
    return str(getattr(scope.get("route"), "path", scope.get(REFUSED_PATH, "none")))


def _known_method(method: str) -> str:
    return method if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "other"


def _request_id(given: str | None) -> str:
    if given is not None and _ID.fullmatch(given):
        return given
    return uuid.uuid4().hex


def _host_name(host: str) -> str:
    """Return the Host header without its port."""
    return re.sub(r":\d*$", "", host.strip().lower()) if not host.endswith("]") else host.strip().lower()
