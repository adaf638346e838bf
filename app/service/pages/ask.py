"""The page at /: a question, its answers with citations and marked unsupported claims, and the sources.

The form works without a script. The script (app/templates/ask.js, served by this server) streams answers. Nothing is
loaded from other servers, and all text of documents and models is escaped.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit

import anyio.to_thread
from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import ValidationError

from app.service.api.query_body import QueryBody
from app.service.api.routes import answering
from app.service.engine.answering import QueryService
from app.service.http.access import Caller, require
from app.service.http.errors import ApiError, validation_error
from app.service.http.stream_errors import unless_disconnected
from app.service.pages.answer_view import QuotedSource, TextSegment, pieces, quoted
from app.service.pages.frame import page

_SCRIPT = Path(__file__).parents[2] / "templates" / "ask.js"
_WAYS = ("on", "off", "both")

page_router = APIRouter(include_in_schema=False)

Service = Annotated[QueryService, Depends(answering)]
MayAsk = Annotated[Caller, Depends(require("query"))]


@dataclass(frozen=True, slots=True)
class Column:
    """An answer column of the page. sources: each source with its text split at the quoted span. cited: numbers of the
    cited sources.
    """

    title: str
    result: dict[str, Any]
    answers: tuple[tuple[tuple[TextSegment, ...], dict[str, Any]], ...]
    sources: tuple[tuple[dict[str, Any], QuotedSource], ...]
    cited: frozenset[int]


@page_router.get("/")
async def form(service: Service, caller: MayAsk) -> HTMLResponse:
    """Show the empty form."""
    return await _page(service, caller)


@page_router.get("/assets/ask.js")
async def script() -> Response:
    """Return the script that streams answers."""
    text = await anyio.to_thread.run_sync(_SCRIPT.read_text, "utf-8")
    return Response(text, media_type="text/javascript; charset=utf-8")


@page_router.post("/")
async def ask(request: Request, service: Service, caller: MayAsk) -> HTMLResponse:
    """Answer the question of the form. An error is shown on the page, with its status."""
    fields: dict[str, str] = {}
    columns: list[Column] = []
    try:
        _require_own_form(request)
        fields = _fields(await request.body())
        way = fields.get("retrieval", "on")
        for retrieval in (True, False) if way == "both" else (way == "on",):
            body = _query(fields, retrieval)
            result = await unless_disconnected(request, service.answer(body.to_pending(caller)))
            columns.append(_column(result.to_json(), retrieval))
    except ApiError as error:
        return await _page(service, caller, fields=fields, error=error)
    return await _page(service, caller, fields=fields, columns=columns)


def _column(result: dict[str, Any], retrieval: bool) -> Column:
    answers = result["answers"]
    return Column(
        "From the documents" if retrieval else "The model alone",
        result,
        tuple((pieces(a["text"], a["annotations"], a["verdicts"] or ()), a) for a in answers),
        tuple((source, quoted(source, answers)) for source in result["sources"]),
        frozenset(a["number"] for answer in answers for a in answer["annotations"]),
    )


def _require_own_form(request: Request) -> None:
    """Raise ApiError 403 for a form posted by a page of another site, recognised by the browser's origin headers."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise ApiError(
            415, "this path accepts only the form of its own page; programs use POST /v1/query", code="not_a_form"
        )
    origin = request.headers.get("origin")
    foreign = origin is not None and urlsplit(origin).netloc.lower() != request.headers.get("host", "").lower()
    if foreign or request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise ApiError(403, "this form was sent by a page of another site", code="foreign_form")


def _fields(body: bytes) -> dict[str, str]:
    try:
        parsed = parse_qs(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=16)
    except ValueError as error:
        raise ApiError(400, "the form cannot be read: send it in UTF-8", code="bad_request") from error
    return {name: values[-1] for name, values in parsed.items()}


def _query(fields: dict[str, str], retrieval: bool) -> QueryBody:
    try:
        return QueryBody(
            question=fields.get("question", ""),
            collection=fields.get("collection") or None,
            retrieval=retrieval,
            verify=fields.get("verify") == "on",
        )
    except ValidationError as error:
        # As in FastAPI's errors for a body: the location starts with the source of the value.
        raise validation_error([{**problem, "loc": ("body", *problem["loc"])} for problem in error.errors()]) from error


async def _page(
    service: QueryService,
    caller: Caller,
    *,
    fields: dict[str, str] | None = None,
    columns: list[Column] | None = None,
    error: ApiError | None = None,
) -> HTMLResponse:
    given = fields or {}
    try:
        infos = await anyio.to_thread.run_sync(service.collections, caller.tenant)
        names = [info.label or info.name for info in infos if info.generation_hash is not None]
    except ApiError as problem:
        names, error = [], error or problem
    way = given.get("retrieval", "on")
    return page(
        "ask.html.j2",
        caller,
        "ask",
        error=error,
        names=names,
        chosen=given.get("collection", ""),
        question=given.get("question", ""),
        way=way if way in _WAYS else "on",
        verify=(fields is None and bool(names)) or given.get("verify") == "on",
        most=service.pipeline.settings.max_question_characters,
        columns=columns or [],
    )
