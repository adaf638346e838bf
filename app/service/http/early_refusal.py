"""Refuse queries that cannot be admitted before their bodies are read, so that refusals cost almost nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.service.http.errors import ApiError, error_response

REFUSED_PATH = "plumbline.path"
"""Key in the ASGI scope: the path of a request that was refused before it reached a route, for the metrics."""
_SMALL = 65_536
"""Bytes of a body that are drained to keep its connection."""


class EarlyRefusal:
    """ASGI middleware that refuses queries while none can be admitted. It does not authenticate: the queue is full for
    everybody.

    paths: paths whose POST requests are checked.
    refusal: returns the error if no query can be admitted, else None.
    """

    def __init__(self, app: ASGIApp, paths: Collection[str], refusal: Callable[[], ApiError | None]) -> None:
        self._app, self._paths, self._refusal = app, frozenset(paths), refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; see ASGI."""
        asks = scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in self._paths
        refusal = self._refusal() if asks else None
        if refusal is None:
            await self._app(scope, receive, send)
            return
        scope[REFUSED_PATH] = scope["path"]  # no route will report it
        declared = Headers(scope=scope).get("content-length", "")
        small = declared.isdecimal() and len(declared) < 6 and int(declared) <= _SMALL
        await error_response(refusal, {} if small else {"Connection": "close"})(scope, receive, send)
