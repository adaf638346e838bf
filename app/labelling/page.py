"""Label answers in a browser, with one item per page and one key per label. Serves the loopback address only."""

from __future__ import annotations

import functools
import secrets
import socket
from typing import Any
from urllib.parse import parse_qs

import anyio.to_thread
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from app.errors import USER_ERRORS
from app.labelling.sessions import LabelSession
from app.labelling.terminal import KEYS
from app.local_pages import (
    HOSTS,
    TEMPLATES,
    PageError,
    check_form_origin,
    form_body,
    host_of,
    page_environment,
    page_response,
    redirect,
    serve_pages,
)
from data.label_file import label_word
from evaluation.reports.corrected_view import agreement_lines


def label_app(session: LabelSession) -> Starlette:
    """Return the web application for the session of one annotator. Texts are escaped, and other scripts cannot run."""
    pages = _Pages(session)
    return Starlette(
        routes=[
            Route("/", pages.start),
            Route("/item/{number:int}", pages.item, methods=["GET"]),
            Route("/item/{number:int}", pages.give, methods=["POST"]),
            Route("/done", pages.done),
        ]
    )


class _Pages:
    def __init__(self, session: LabelSession) -> None:
        self._session = session
        self._template = page_environment().get_template("label.html.j2")

    async def start(self, request: Request) -> Response:
        """Redirect to the first unlabelled item, or to the end page."""
        return await self._guarded(request, self._start)

    async def item(self, request: Request) -> Response:
        """Show an item."""
        return await self._guarded(request, self._item)

    async def give(self, request: Request) -> Response:
        """Store a label and redirect to the next item."""
        try:
            check_form_origin(request)
            label = _label(await form_body(request))
        except PageError as error:
            return self._page(error.status, error=str(error))
        return await self._guarded(request, functools.partial(self._give, label=label))

    async def done(self, request: Request) -> Response:
        """Show the progress and the agreement of the annotators."""
        return await self._guarded(request, self._done)

    async def _guarded(self, request: Request, work: Any) -> Response:
        try:
            if host_of(request) not in HOSTS:  # another host name may be DNS rebinding
                raise PageError(403, "this page is available at 127.0.0.1 and localhost only")
            found: Response = await anyio.to_thread.run_sync(work, request)
            return found
        except PageError as error:
            return self._page(error.status, error=str(error))
        except USER_ERRORS as error:
            return self._page(500, error=str(error))

    def _start(self, request: Request) -> Response:
        index = self._session.first_open()
        return redirect("/done" if index is None else f"/item/{index + 1}")

    def _item(self, request: Request) -> Response:
        index = self._item_index(request)
        item = self._session.items[index]
        own = self._session.own()
        return self._page(
            200,
            item=item,
            number=index + 1,
            total=len(self._session.items),
            labelled=len(own),
            chosen=own.get(item.key, ""),
        )

    def _give(self, request: Request, label: str) -> Response:
        index = self._item_index(request)
        self._session.label(self._session.items[index], KEYS[label])
        return redirect("/done" if index + 1 == len(self._session.items) else f"/item/{index + 2}")

    def _done(self, request: Request) -> Response:
        progress = self._session.progress()
        first = self._session.first_open()
        return self._page(
            200,
            progress=progress,
            agreement=agreement_lines(progress.agreement),
            total=len(self._session.items),
            labelled=len(self._session.own()),
            first=None if first is None else first + 1,
        )

    def _item_index(self, request: Request) -> int:
        number = int(request.path_params["number"])
        if not 1 <= number <= len(self._session.items):
            raise PageError(404, f"there is no item {number}: there are {len(self._session.items)}")
        return number - 1

    def _page(self, status: int, **values: Any) -> HTMLResponse:
        nonce = secrets.token_urlsafe(16)
        shown = {"item": None, "progress": None, "error": "", "total": 0, "labelled": 0} | values
        html = self._template.render(
            nonce=nonce,
            script=Markup((TEMPLATES / "label.js").read_text(encoding="utf-8")),  # noqa: S704 - our own file
            run_id=self._session.run_id,
            annotator=self._session.annotator,
            adjudicates=self._session.adjudicates,
            keys=[(key, label_word(outcome), outcome) for key, outcome in KEYS.items()],
            **shown,
        )
        return page_response(html, nonce, status)


def serve_labels(session: LabelSession, listener: socket.socket) -> None:
    """Serve the pages until Ctrl-C or SIGTERM."""
    serve_pages(label_app(session), listener)


def _label(body: bytes) -> str:
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=8)
    except ValueError:
        raise PageError(400, "the form cannot be read") from None
    label = fields.get("label", [""])[-1]
    if label not in KEYS:
        raise PageError(400, f"the label must be one of {', '.join(KEYS)}: press one of the four buttons")
    return label
