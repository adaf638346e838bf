"""Errors as the service answers them: one JSON shape (OpenAI's error object), the right status, nothing internal."""

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
"""For the log: the client left before there was a response."""
UNREAD = (408, 413)
"""Refusals of a body of which the rest is still on its way: it is not waited for, so the connection must end."""
_CODES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed"}
_MESSAGES = {
    400: "the request cannot be read: send JSON in UTF-8, with numbers of at most 4,300 digits",
    404: "there is nothing at this path: see /openapi.json for those there are",
    405: "this path does not take this method: see the Allow header",
}


class ApiError(Exception):
    """A refusal of a request.

    status: HTTP. code: for programs. param: the field that is wrong. retry_after: seconds. The message is sent to the
    client: no text of a document, no path of this machine.
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
    """``{"error": {"message", "type", "param", "code"}}``."""
    kind = "rate_limit_error" if status == 429 else "server_error" if status >= 500 else "invalid_request_error"
    # What a client sent may stand in both, and half of a surrogate pair has no UTF-8 form.
    shown = {"message": clean_text(message), "type": kind, "param": param and clean_text(param), "code": code}
    return {"error": shown}


def error_response(error: ApiError, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The error as a response, with Retry-After where it says when."""
    sent = dict(headers or {})
    if error.retry_after is not None:
        sent["Retry-After"] = str(error.retry_after)
    if error.status in UNREAD:
        sent["Connection"] = "close"
    if error.status == 401:
        sent["WWW-Authenticate"] = 'Bearer realm="plumbline"'  # RFC 9110 section 11.6.1 asks for it
    body = error_body(error.status, error.message, error.code, error.param)
    return JSONResponse(body, status_code=error.status, headers=sent)


def add_error_handlers(app: FastAPI) -> None:
    """Give every error of the framework and of the routes the same shape."""

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, ApiError)  # noqa: S101 - registered for nothing else
        if error.status == 401 and _is_page(request):
            return RedirectResponse("/login", status_code=303)
        return error_response(error)

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for nothing else
        # OpenAI's clients know a value that cannot be used by 400.
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
    """Whether a browser asks for a page of ours."""
    wants = "text/html" in request.headers.get("accept", "")
    return wants and request.method == "GET" and not request.url.path.startswith("/v1/")


def validation_error(problems: Sequence[Mapping[str, Any]], status: int = 422) -> ApiError:
    """What pydantic found, as one error: 400 for text that is no JSON, ``status`` for values that cannot be used."""
    first = problems[0]
    if first["type"] == "json_invalid":
        reason = first.get("ctx", {}).get("error", "not JSON")
        return ApiError(400, f"the body is not JSON: {reason}", code="invalid_json")
    message = "; ".join(_sentence(problem) for problem in problems[:3])
    if len(problems) > 3:
        message += f"; and {len(problems) - 3} more"
    return ApiError(status, message, code="invalid_value", param=_field(first))


def _field(problem: Mapping[str, Any]) -> str | None:
    # The first part of the place is "body". A key of the client's own may be of any length.
    return ".".join(str(part) for part in problem["loc"][1:])[:100] or None


def _sentence(problem: Mapping[str, Any]) -> str:
    says = str(problem["msg"]).removeprefix("Value error, ")
    value = problem.get("input")
    field = _field(problem)
    # Numbers and short words are shown; a question never is, it would end in logs.
    shown = isinstance(value, int | float) or (isinstance(value, str) and len(value) <= 40 and field != "question")
    return f"{field or 'the body'}{f' is {value!r}' if shown else ''}: {says[:1].lower()}{says[1:]}"


def without_message(error: BaseException) -> str:
    """The traceback with the kinds of its errors, and not what they say: that quotes questions and documents."""
    parts: list[str] = []
    seen: BaseException | None = error
    while seen is not None:
        kind = f"{type(seen).__module__}.{type(seen).__qualname__}\n"
        parts.append("".join(traceback.format_tb(seen.__traceback__)) + kind)
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "caused by\n".join(parts).rstrip()
