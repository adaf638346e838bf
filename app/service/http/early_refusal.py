"""Refuses queries that cannot be admitted before anything of them is read, so that refusals cost almost nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.service.http.errors import ApiError, error_response

REFUSED_PATH = "plumbline.path"
"""Key in the scope: the path of a request that reached no route, for the metrics."""
_SMALL = 65_536
"""Bytes of a body that are drained to keep its connection."""


class EarlyRefusal:
    """ASGI middleware. paths: paths whose POSTs are checked. refusal: returns the reason if no query can be admitted.

    Does not authenticate: a full queue is full for everybody.
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
        promised = Headers(scope=scope).get("content-length", "")
        small = promised.isdecimal() and len(promised) < 6 and int(promised) <= _SMALL
        await error_response(refusal, {} if small else {"Connection": "close"})(scope, receive, send)
