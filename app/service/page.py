"""The page at /: a form, the answers with their citations, and the sources. No script, nothing loaded from anywhere."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit

import anyio.to_thread
import jinja2
from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse
from pydantic import ValidationError

from app.service.answering import Answering
from app.service.errors import ApiError, validation_error
from app.service.routes import answering
from app.service.schemas import QueryBody

_TEMPLATES = Path(__file__).parent.parent / "templates"

page_router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of an answer's text. number: of the source it cites, None for plain text."""

    text: str
    number: int | None


def pieces(text: str, annotations: list[dict[str, Any]]) -> tuple[Piece, ...]:
    """The text cut at its citations; joined, the pieces are the text again."""
    out: list[Piece] = []
    place = 0
    for annotation in sorted(annotations, key=lambda a: int(a["start"])):
        start, end = int(annotation["start"]), int(annotation["end"])
        out.append(Piece(text[place:start], None))
        out.append(Piece(text[start:end], int(annotation["number"])))
        place = end
    out.append(Piece(text[place:], None))
    return tuple(piece for piece in out if piece.text)


@page_router.get("/")
async def form(request: Request, service: Annotated[Answering, Depends(answering)]) -> HTMLResponse:
    """The empty form."""
    return await _page(service)


@page_router.post("/")
async def ask(request: Request, service: Annotated[Answering, Depends(answering)]) -> HTMLResponse:
    """The form's answer; an error is shown on the page, with its status."""
    fields: dict[str, str] = {}
    try:
        _require_own_form(request)
        fields = _fields(await request.body())
        body = _query(fields)
        result = await service.answer(body.to_request(), request.is_disconnected)
    except ApiError as error:
        return await _page(service, fields=fields, error=error)
    return await _page(service, fields=fields, result=result.to_json())


def _require_own_form(request: Request) -> None:
    """A form on another site can post here too; browsers say where a post comes from."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise ApiError(415, "this path takes the form of the page only; programs use POST /v1/query", code="not_a_form")
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


def _query(fields: dict[str, str]) -> QueryBody:
    try:
        return QueryBody(
            question=fields.get("question", ""),
            collection=fields.get("collection") or None,
            retrieval=fields.get("retrieval", "on") == "on",
        )
    except ValidationError as error:
        # As FastAPI does for a body: the place begins with where the value came from.
        raise validation_error([{**problem, "loc": ("body", *problem["loc"])} for problem in error.errors()]) from error


async def _page(
    service: Answering,
    *,
    fields: dict[str, str] | None = None,
    result: dict[str, Any] | None = None,
    error: ApiError | None = None,
) -> HTMLResponse:
    fields = fields or {}
    try:
        infos = await anyio.to_thread.run_sync(service.collections)
        names = [info.name for info in infos if info.generation_hash is not None]
    except ApiError as problem:
        names, error = [], error or problem
    answers = [(pieces(answer["text"], answer["annotations"]), answer) for answer in (result or {}).get("answers", ())]
    nonce = secrets.token_urlsafe(16)
    html = _template().render(
        nonce=nonce,
        names=names,
        chosen=fields.get("collection", ""),
        question=fields.get("question", ""),
        retrieval=fields.get("retrieval", "on") == "on",
        most=service.pipeline.settings.max_question_characters,
        result=result,
        answers=answers,
        cited={piece.number for parts, _ in answers for piece in parts},
        error=error,
    )
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    headers = {"Content-Security-Policy": policy, "Referrer-Policy": "same-origin"}
    if error is not None and error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    return HTMLResponse(html, status_code=error.status if error else 200, headers=headers)


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    return environment.get_template("ask.html.j2")
