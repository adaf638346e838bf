"""The server process: reports when it accepts requests, and finishes its work before it stops."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.lifespan.on import LifespanOn

from app.service.application import drain, idle
from app.service.http.http_protocol import BoundedHttp

GRACE_S = 20
BACKLOG = 128
_POLL_S = 0.05


def server_config(app: FastAPI, **more: Any) -> uvicorn.Config:
    """Return the uvicorn settings of the service. more: further arguments of uvicorn.Config."""
    given: dict[str, Any] = {
        "http": BoundedHttp,
        "loop": "uvloop",
        "log_config": None,
        "access_log": False,  # our access log has request ids, and no query strings
        "server_header": False,
        "proxy_headers": False,
        "timeout_graceful_shutdown": GRACE_S,
        "backlog": BACKLOG,
        "lifespan": "on",
        "ws": "none",
    }
    return uvicorn.Config(app, **(given | more))


class DrainingServer(uvicorn.Server):
    """A uvicorn server that keeps listening after a stop signal until its work is done; uvicorn itself closes its
    socket at once.

    The signals are SIGTERM, Ctrl-C, and SIGHUP (a closed terminal). After the signal /readyz returns 503, new and
    waiting queries are refused (503, Retry-After), and running ones finish.

    accepting: called once the server accepts requests.
    drain_s: minimum seconds of listening after the signal, so that load balancers see that the server is not ready.
    grace_s: maximum seconds to wait for the work.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        app: FastAPI,
        accepting: Callable[[], None],
        *,
        drain_s: float = 0.0,
        grace_s: float = 20.0,
    ) -> None:
        super().__init__(config)
        self._app, self._accepting = app, accepting
        self._drain_s, self._grace_s = drain_s, grace_s

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the server and call ``accepting``; see uvicorn."""
        await super().startup(sockets)
        if self.started:
            self._accepting()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle SIGHUP in addition to uvicorn's signals. A server outside of the main thread handles none."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGHUP)
        if before is not signal.SIG_IGN:  # respect nohup
            signal.signal(signal.SIGHUP, self.handle_exit)
        try:
            with super().capture_signals():
                yield
        finally:
            signal.signal(signal.SIGHUP, before)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop the server; see uvicorn. A second Ctrl-C stops the application by force, without a traceback."""
        super().handle_exit(sig, frame)
        if self.force_exit and isinstance(self.lifespan, LifespanOn):
            self.lifespan.logger = logging.Logger("lifespan cut off", logging.CRITICAL + 1)

    async def main_loop(self) -> None:
        """Serve until the signal, then drain until the work is done."""
        await super().main_loop()
        drain(self._app)
        loop = asyncio.get_running_loop()
        started = loop.time()
        working = asyncio.create_task(idle(self._app))
        try:
            while not self.force_exit:  # a second Ctrl-C
                passed = loop.time() - started
                if passed >= self._drain_s and (working.done() or passed >= self._grace_s):
                    return
                await asyncio.sleep(_POLL_S)
        finally:
            working.cancel()
