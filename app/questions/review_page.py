"""Review questions in a browser, with one question per page. Serves the loopback address only."""

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

from app.errors import USER_ERRORS, AppError
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
from app.questions.review import QuestionReview
from app.questions.review_terminal import Texts
from data.questions import Question

_MOST_BYTES = 65_536
_AROUND = 400
DECISIONS = (("k", "keep"), ("m", "mend"), ("u", "unanswerable"), ("d", "drop"), ("s", "skip"))


def review_app(review: QuestionReview, texts: Texts) -> Starlette:
    """Return the web application for one reviewer. texts: function that returns the text of a document.

    Texts are escaped, and other scripts cannot run.
    """
    pages = _Pages(review, texts)
    return Starlette(
        routes=[
            Route("/", pages.show, methods=["GET"]),
            Route("/", pages.decide, methods=["POST"]),
        ]
    )


def serve_review(review: QuestionReview, texts: Texts, listener: socket.socket) -> None:
    """Serve the pages until Ctrl-C or SIGTERM."""
    serve_pages(review_app(review, texts), listener)


class _Pages:
    def __init__(self, review: QuestionReview, texts: Texts) -> None:
        self._review, self._texts = review, texts
        self._skipped: set[str] = set()
        self._template = page_environment().get_template("review.html.j2")

    async def show(self, request: Request) -> Response:
        """Show the first question that this person has neither reviewed nor skipped, or the end page."""
        return await self._guarded(request, self._show)

    async def decide(self, request: Request) -> Response:
        """Store a decision and redirect to the next question."""
        try:
            check_form_origin(request)
            fields = _fields(await form_body(request, _MOST_BYTES))
        except PageError as error:
            return self._page(error.status, error=str(error))
        return await self._guarded(request, functools.partial(self._decide, fields))

    async def _guarded(self, request: Request, work: Any) -> Response:
        try:
            if host_of(request) not in HOSTS:  # another host name may be DNS rebinding
                raise PageError(403, "this page is available at 127.0.0.1 and localhost only")
            found: Response = await anyio.to_thread.run_sync(work)
            return found
        except PageError as error:
            return self._page(error.status, error=str(error))
        except AppError as error:
            return self._page(409, error=str(error))
        except USER_ERRORS as error:
            return self._page(500, error=str(error))

    def _show(self) -> Response:
        waiting = [q for q in self._review.open_questions() if q.id not in self._skipped]
        progress = self._review.progress()
        question = waiting[0] if waiting else None
        passages = [] if question is None else self._passages(question)
        return self._page(200, question=question, passages=passages, waiting=len(waiting), progress=progress)

    def _decide(self, fields: dict[str, str]) -> Response:
        review, question_id, decision = self._review, fields["id"], fields["decision"]
        if decision == "keep":
            review.keep(question_id)
        elif decision == "mend":
            question = review.find(question_id)
            references = tuple(fields["references"].splitlines())
            changed = tuple(r.strip() for r in references if r.strip()) != question.references
            text = fields["text"] if fields["text"].strip() != question.text else None
            if text is None and not changed:
                raise AppError("nothing was changed: edit the text or the references, then press Mend, or keep it")
            review.mend(question_id, text, references if changed else None)
        elif decision == "unanswerable":
            review.mark_unanswerable(question_id)
        elif decision == "drop":
            review.drop(question_id)
        else:
            self._skipped.add(question_id)
        return redirect("/")

    def _passages(self, question: Question) -> list[dict[str, str]]:
        found = []
        for span in question.evidence:
            text = self._texts(span.document_id)
            if text is None or span.end > len(text):
                found.append({"document": span.document_id, "before": "", "text": "", "after": ""})
                continue
            found.append(
                {
                    "document": span.document_id,
                    "before": text[max(0, span.start - _AROUND) : span.start],
                    "text": text[span.start : span.end],
                    "after": text[span.end : span.end + _AROUND],
                }
            )
        return found

    def _page(self, status: int, **values: Any) -> HTMLResponse:
        nonce = secrets.token_urlsafe(16)
        shown = {"question": None, "passages": [], "waiting": 0, "progress": None, "error": ""} | values
        html = self._template.render(
            nonce=nonce,
            script=Markup((TEMPLATES / "review.js").read_text(encoding="utf-8")),  # noqa: S704 - our own file
            reviewer=self._review.reviewer,
            file=self._review.path.name,
            decisions=DECISIONS,
            **shown,
        )
        return page_response(html, nonce, status)


def _fields(body: bytes) -> dict[str, str]:
    try:
        read = parse_qs(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=8)
    except ValueError:
        raise PageError(400, "the form cannot be read") from None
    fields = {name: read.get(name, [""])[-1] for name in ("id", "decision", "text", "references")}
    known = [decision for _, decision in DECISIONS]
    if fields["decision"] not in known:
        raise PageError(400, f"the decision must be one of {', '.join(known)}: press one of the buttons")
    return fields
