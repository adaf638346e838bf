"""Shared code of web pages on the loopback address: socket, server, security headers, checks of forms."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from urllib.parse import urlsplit

import jinja2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from app.errors import AppError
from app.page_text import visible

TEMPLATES = Path(__file__).parent / "templates"
HOST = "127.0.0.1"
HOSTS = frozenset({HOST, "localhost"})
_MAX_BYTES = 4096


class PageError(Exception):
    """A rejected request. status: HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def page_environment() -> jinja2.Environment:
    """Return the template engine. It escapes all values, and an unknown variable is an error."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=visible,
    )


def page_response(html: str, nonce: str, status: int) -> HTMLResponse:
    """Return the page with its security headers. nonce: only scripts and styles that carry it are allowed."""
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    headers = {
        "Content-Security-Policy": policy,
        "Referrer-Policy": "same-origin",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return HTMLResponse(html, status_code=status, headers=headers)


def loopback_socket(port: int) -> socket.socket:
    """Return a listening socket on 127.0.0.1. port: 0 for any free port. Raises AppError if it is not available."""
    try:
        return socket.create_server((HOST, port))
    except (OSError, OverflowError) as error:
        raise AppError(
            f"cannot listen on {HOST}:{port} ({error}): choose another --port, or 0 for any free port"
        ) from error


def serve_pages(pages: Starlette, listener: socket.socket) -> None:
    """Serve the pages until Ctrl-C or SIGTERM."""
    import uvicorn

    config = uvicorn.Config(
        pages,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=2,
        lifespan="off",
        ws="none",
    )
    uvicorn.Server(config).run(sockets=[listener])


def redirect(path: str) -> RedirectResponse:
    """Return a redirect to another page, which the browser requests by GET."""
    return RedirectResponse(path, status_code=303, headers={"Cache-Control": "no-store"})


def host_of(request: Request) -> str:
    """Return the host name of the request, without its port."""
    return re.sub(r":\d*$", "", request.headers.get("host", "").strip().lower())


def check_form_origin(request: Request) -> None:
    """Raise PageError for a form that a page of another site sent, which the browser's Origin headers show."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise PageError(415, "this path accepts only the form of its own page")
    origin = request.headers.get("origin")
    foreign = origin is not None and urlsplit(origin).netloc.lower() != request.headers.get("host", "").lower()
    if foreign or request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise PageError(403, "this form was sent by a page of another site")


async def form_body(request: Request, max_bytes: int = _MAX_BYTES) -> bytes:
    """Return the body of a form. Raises PageError if it is larger than ``max_bytes``."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > max_bytes:
            raise PageError(413, f"the form is larger than {max_bytes} bytes")
    return body
