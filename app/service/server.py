"""The server's process: says when it accepts, and when told to stop says first that it is not ready, then finishes."""

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
_LOOK_S = 0.05


def server_config(app: FastAPI, **more: Any) -> uvicorn.Config:
    """How the service is served, whoever serves it. more: as uvicorn.Config takes it."""
    given: dict[str, Any] = {
        "http": BoundedHttp,
        "loop": "uvloop",
        "log_config": None,
        "access_log": False,  # ours has request ids, and no query strings
        "server_header": False,
        "proxy_headers": False,
        "timeout_graceful_shutdown": GRACE_S,
        "backlog": BACKLOG,
        "lifespan": "on",
        "ws": "none",
    }
    return uvicorn.Config(app, **(given | more))


class DrainingServer(uvicorn.Server):
    """uvicorn, which on SIGTERM or Ctrl-C closes its socket at once; this one goes on listening until the work is done.
    SIGHUP (the terminal is gone) is as SIGTERM.

    From the signal on /readyz says 503, new queries and those that wait are handed back (503, Retry-After), and those
    under way are finished. accepting: called when it accepts. drain_s: how long it listens at least, so that whoever
    sends requests here has time to see that it is not ready. grace_s: how long it waits for the work.
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
        """See uvicorn."""
        await super().startup(sockets)
        if self.started:
            self._accepting()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """See uvicorn. A server that is not in the main thread listens to no signals."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGHUP)
        if before is not signal.SIG_IGN:  # nohup means what it says
            signal.signal(signal.SIGHUP, self.handle_exit)
        try:
            with super().capture_signals():
                yield
        finally:
            signal.signal(signal.SIGHUP, before)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """See uvicorn. A second Ctrl-C cuts the application off on purpose: its traceback would say no more."""
        super().handle_exit(sig, frame)
        if self.force_exit and isinstance(self.lifespan, LifespanOn):
            self.lifespan.logger = logging.Logger("lifespan cut off", logging.CRITICAL + 1)

    async def main_loop(self) -> None:
        """Until the signal, and then until the work is done."""
        await super().main_loop()
        drain(self._app)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        working = asyncio.create_task(idle(self._app))
        try:
            while not self.force_exit:  # a second Ctrl-C
                passed = loop.time() - begun
                if passed >= self._drain_s and (working.done() or passed >= self._grace_s):
                    return
                await asyncio.sleep(_LOOK_S)
        finally:
            working.cancel()
