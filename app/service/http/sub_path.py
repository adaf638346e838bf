"""Serve under a URL path prefix (``--root-path /plumbline``), behind a reverse proxy or not.

Routes, templates and redirects use paths without the prefix. The middleware removes it from requests, if the proxy left
it there. Templates add it with ``root()``, and the middleware adds it to Location headers.
"""

from __future__ import annotations

import re
from contextvars import ContextVar

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ROOT: ContextVar[str] = ContextVar("root_path", default="")
_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)+")


def root() -> str:
    """Return the path prefix of the service for the current request, such as ``/plumbline``; empty without a prefix."""
    return _ROOT.get()


def checked_root_path(path: str) -> str:
    """Return the path without a trailing slash; "" for ``/``. Raises ValueError for an invalid path."""
    bare = path.rstrip("/")
    if bare and _PATH.fullmatch(bare) is None:
        raise ValueError(f"{path!r} is not a path such as /plumbline: use letters, digits, . _ ~ - between slashes")
    return bare


class SubPath:
    """The outermost ASGI middleware. root_path: prefix as returned by ``checked_root_path``."""

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self._app, self._root = app, root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; see ASGI."""
        if scope["type"] != "http" or not self._root:
            await self._app(scope, receive, send)
            return
        _ROOT.set(self._root)  # each request has its own context
        path = scope["path"]
        if path == self._root or path.startswith(f"{self._root}/"):
            scope = {**scope, "path": path[len(self._root) :] or "/"}

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                location = sent.get("location", "")
                if location.startswith("/") and not location.startswith("//"):
                    sent["Location"] = self._root + location
            await send(message)

        await self._app(scope, receive, sending)
