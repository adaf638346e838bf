"""Server-sent events as a response, with keep-alive comments, until the client disconnects.

Format: WHATWG HTML, section 9.2 "Server-sent events". A client that stops reading is disconnected after a timeout.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

MEDIA_TYPE = "text/event-stream"
EVENTS_CONTENT = {
    MEDIA_TYPE: {
        "schema": {
            "type": "object",
            "description": "format of each event; data is JSON",
            "required": ["data"],
            "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
        }
    }
}
"""The format of an event, for the ``responses`` of a route."""
_ALIVE_S = 15.0
_STALLED_S = 60.0
_COMMENT = b": waiting\n\n"


def event(data: object, name: str | None = None) -> bytes:
    """Return one encoded event. JSON contains no line breaks, so the data is one line."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


class EventStream(StreamingResponse):
    """A response that streams events.

    events: encoded events; each chunk of bytes holds complete events.
    close: called once at the end, whether the stream was completed or not.
    alive_s: seconds without an event after which a comment is sent, so that proxies keep the connection.
    stalled_s: seconds after which a client that does not read is disconnected.
    """

    def __init__(
        self,
        events: AsyncIterator[bytes],
        close: Callable[[], None],
        *,
        alive_s: float = _ALIVE_S,
        stalled_s: float = _STALLED_S,
    ) -> None:
        # Otherwise a buffering reverse proxy holds all events back until the answer is complete.
        super().__init__(events, media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})
        self._events, self._close = events, close
        self._alive_s, self._stalled_s = alive_s, stalled_s
        self._turn = asyncio.Lock()
        self._sending_since: float | None = None
        self._sent_at = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until they end or the client disconnects; see ASGI."""
        self._sent_at = asyncio.get_running_loop().time()
        writing = asyncio.create_task(self._write(send))
        others = (asyncio.create_task(client_gone(receive)), asyncio.create_task(self._watch(send)))
        try:
            await asyncio.wait((writing, *others), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (writing, *others):
                task.cancel()
            self._close()
            written, *_ = await asyncio.gather(writing, *others, return_exceptions=True)
        if isinstance(written, Exception) and not isinstance(written, OSError):
            raise written

    async def _write(self, send: Send) -> None:
        await self._send(send, {"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for chunk in self._events:
            await self._send(send, {"type": "http.response.body", "body": chunk, "more_body": True})
        await self._send(send, {"type": "http.response.body", "body": b"", "more_body": False})

    async def _watch(self, send: Send) -> None:
        """Send comments while idle, and return if the client does not read.

        There is one timer per stream, since a task and a timer per event cost more than the event.
        """
        clock = asyncio.get_running_loop().time
        while True:
            now = clock()
            if self._sending_since is not None:
                due = self._sending_since + self._stalled_s
                if now >= due:
                    return
            else:
                due = self._sent_at + self._alive_s
                if now >= due:
                    async with asyncio.timeout(self._stalled_s):
                        await self._send(send, {"type": "http.response.body", "body": _COMMENT, "more_body": True})
                    continue
            await asyncio.sleep(min(due - now, self._stalled_s))

    async def _send(self, send: Send, message: dict[str, Any]) -> None:
        clock = asyncio.get_running_loop().time
        async with self._turn:
            self._sending_since = clock()
            await send(message)
            self._sending_since, self._sent_at = None, clock()


async def client_gone(receive: Receive) -> None:
    """Return when the client has disconnected. The request's body must have been read before."""
    while (await receive())["type"] != "http.disconnect":
        pass
