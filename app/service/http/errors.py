"""Error responses of the service: OpenAI's error object, the matching status, and no internal details."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from data.json_text import clean_text

CLIENT_GONE = 499
"""Status for the log: the client disconnected before the response."""
UNREAD = (408, 413)
"""Statuses of refusals that leave a body unread, so the connection must close."""
_CODES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed"}
_MESSAGES = {
    400: "the request cannot be read: send JSON in UTF-8, with numbers of at most 4,300 digits",
    404: "there is nothing at this path: /openapi.json lists the paths",
    405: "this path does not support this method: see the Allow header",
}


class ApiError(Exception):
    """A refused request.

    The message is sent to the client: it must not contain document text or paths of this machine.

    status: HTTP status.
    code: identifier for programs.
    param: name of the invalid field; None if there is none.
    retry_after: seconds until a retry is useful; None if it is not.
    """

    def __init__(
        self, status: int, message: str, *, code: str, param: str | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param
        self.retry_after = retry_after


def error_body(status: int, message: str, code: str, param: str | None = None) -> dict[str, Any]:
    """Return ``{"error": {"message", "type", "param", "code"}}``."""
    kind = "rate_limit_error" if status == 429 else "server_error" if status >= 500 else "invalid_request_error"
    # Both may hold client text, and lone surrogates cannot be encoded in UTF-8.
    shown = {"message": clean_text(message), "type": kind, "param": param and clean_text(param), "code": code}
    return {"error": shown}


def error_response(error: ApiError, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return the error as a response, with Retry-After if the error has it."""
    sent = dict(headers or {})
    if error.retry_after is not None:
        sent["Retry-After"] = str(error.retry_after)
    if error.status in UNREAD:
        sent["Connection"] = "close"
    if error.status == 401:
        sent["WWW-Authenticate"] = 'Bearer realm="plumbline"'  # RFC 9110 section 11.6.1 requires it
    body = error_body(error.status, error.message, error.code, error.param)
    return JSONResponse(body, status_code=error.status, headers=sent)


def add_error_handlers(app: FastAPI) -> None:
    """Convert errors of the framework and of routes to the error object."""

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, ApiError)  # noqa: S101 - registered for nothing else
        if error.status == 401 and _is_page(request):
            return RedirectResponse("/login", status_code=303)
        return error_response(error)

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for nothing else
        # OpenAI's clients expect 400 for invalid values.
        status = 400 if request.url.path.startswith("/v1/chat/") else 422
        return error_response(validation_error(error.errors(), status))

    async def framework(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)  # noqa: S101 - registered for nothing else
        status = error.status_code
        message = _MESSAGES.get(status, "the request was refused")
        return error_response(ApiError(status, message, code=_CODES.get(status, "http_error")), error.headers)

    app.add_exception_handler(ApiError, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, framework)


def _is_page(request: Request) -> bool:
    """Return whether a browser requests an HTML page of the service."""
    wants = "text/html" in request.headers.get("accept", "")
    return wants and request.method == "GET" and not request.url.path.startswith("/v1/")


def validation_error(problems: Sequence[Mapping[str, Any]], status: int = 422) -> ApiError:
    """Return Pydantic's errors as one ApiError: 400 for invalid JSON, ``status`` for invalid values."""
    first = problems[0]
    if first["type"] == "json_invalid":
        reason = first.get("ctx", {}).get("error", "not JSON")
        return ApiError(400, f"the body is not JSON: {reason}", code="invalid_json")
    message = "; ".join(_sentence(problem) for problem in problems[:3])
    if len(problems) > 3:
        message += f"; and {len(problems) - 3} more"
    return ApiError(status, message, code="invalid_value", param=_field(first))


def _field(problem: Mapping[str, Any]) -> str | None:
    # The first part of the location is "body". A key sent by the client can have any length.
    return ".".join(str(part) for part in problem["loc"][1:])[:100] or None


def _sentence(problem: Mapping[str, Any]) -> str:
    says = str(problem["msg"]).removeprefix("Value error, ")
    value = problem.get("input")
    field = _field(problem)
    # Numbers and short words are quoted; questions never are, since they would appear in logs.
    shown = isinstance(value, int | float) or (isinstance(value, str) and len(value) <= 40 and field != "question")
    return f"{field or 'the body'}{f' is {value!r}' if shown else ''}: {says[:1].lower()}{says[1:]}"


def without_message(error: BaseException) -> str:
    """Return the traceback with the types of its exceptions but without their messages, which may quote questions and
    documents.
    """
    parts: list[str] = []
    seen: BaseException | None = error
    while seen is not None:
        kind = f"{type(seen).__module__}.{type(seen).__qualname__}\n"
        parts.append("".join(traceback.format_tb(seen.__traceback__)) + kind)
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "caused by\n".join(parts).rstrip()
