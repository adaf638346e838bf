"""Common parts of API routes: error responses in OpenAPI, and JSON bodies that are read only after admission."""

from __future__ import annotations

import email.message
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.routing import APIRoute

from app.service.api.schemas import ErrorReply
from app.service.http.access import admit_route
from app.service.http.errors import ApiError
from app.service.http.json_body import LARGE_BYTES, LargeBodies

RETRY_HEADER = {"Retry-After": {"description": "seconds until a retry is useful", "schema": {"type": "integer"}}}
_MEANINGS = {
    400: "The body cannot be read",
    401: "A key is missing, wrong, revoked or expired",
    403: "The key lacks the scope, or the Host header is not accepted",
    404: "The object does not exist",
    408: "The body did not arrive in time",
    409: "The request conflicts with the present state",
    413: "The body is too large",
    415: "The content type of the body is not supported",
    422: "A value is invalid; param names it",
    429: "Too many requests are waiting, or the key has reached its limit",
    500: "Internal error",
    503: "Not ready, busy, stopping, or a component is not available",
}


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the ``responses`` argument of a route: the error object for each status."""
    return {
        status: {
            "model": ErrorReply,
            "description": _MEANINGS[status],
            **({"headers": RETRY_HEADER} if status in (429, 503) else {}),
        }
        for status in statuses
    }


class JsonRoute(APIRoute):
    """A route that requires the content type application/json, which pages of other sites cannot send without a CORS
    preflight.

    It reads the body only after the caller was authenticated, has the route's scope, and is within its rate limit.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that checks the caller and the content type before the body is read."""
        inner = super().get_route_handler()

        async def handler(request: Request) -> Response:
            if request.method == "POST":
                await admit_route(request, self.dependant)
                _require_json(request)
                body = await request.body()
                if len(body) >= LARGE_BYTES:
                    # FastAPI looks here for a body that was parsed already.
                    request._json = await _large_bodies(request).parse(body, self._check)
                elif not body.strip():
                    message = 'the body is empty: send a JSON object such as {"question": "..."}'
                    raise ApiError(400, message, code="invalid_json")
            return await inner(request)

        return handler

    def _check(self, value: Any) -> None:
        """Raise RequestValidationError for a body that does not match the route's type."""
        if self.body_field is not None:
            _, errors = self.body_field.validate(value, {}, loc=("body",))
            if errors:
                raise RequestValidationError(errors)


def _large_bodies(request: Request) -> LargeBodies:
    """Return the app's parser of large bodies, created on the first request."""
    state = request.app.state
    existing = getattr(state, "large_bodies", None)
    if not isinstance(existing, LargeBodies):
        existing = state.large_bodies = LargeBodies()
    return existing


def _require_json(request: Request) -> None:
    header = email.message.Message()
    header["content-type"] = request.headers.get("content-type", "")
    if header.get_content_type() != "application/json" or not request.headers.get("content-type"):
        raise ApiError(415, "send the body as Content-Type: application/json", code="unsupported_media_type")
