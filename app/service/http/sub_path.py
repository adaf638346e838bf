"""The service under a path of a site that has others (``--root-path /plumbline``), behind a reverse proxy or not.

Routes, templates and redirects name paths as if the service had the site to itself. The path is taken off what comes,
where the proxy left it there, and put in front of what goes out: in the templates by ``root()``, in Location by this
middleware.
"""

from __future__ import annotations

import re
from contextvars import ContextVar

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ROOT: ContextVar[str] = ContextVar("root_path", default="")
_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)+")


def root() -> str:
    """What stands in front of every path of this request's service: empty, or such as ``/plumbline``."""
    return _ROOT.get()


def checked_root_path(path: str) -> str:
    """The path without a slash at its end, "" for ``/``. Raises ValueError for what is no plain path."""
    bare = path.rstrip("/")
    if bare and _PATH.fullmatch(bare) is None:
        raise ValueError(f"{path!r} is no path such as /plumbline: letters, digits, . _ ~ - between slashes")
    return bare


class SubPath:
    """ASGI middleware, the outermost. root_path: as ``checked_root_path`` returns it."""

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self._app, self._root = app, root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; see ASGI."""
        if scope["type"] != "http" or not self._root:
            await self._app(scope, receive, send)
            return
        _ROOT.set(self._root)  # each request has a context of its own
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
