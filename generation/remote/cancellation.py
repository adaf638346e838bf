"""Cancel a request that another thread waits for, by shutting down its connections."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from generation.completion import FinishReason
from generation.errors import GenerationError

_OPENED = ("connection.connect_tcp.complete", "connection.start_tls.complete")


class HungUpError(GenerationError):
    """The request was cancelled by this side."""


class RequestCancellation:
    """The connections of one request. It can be cancelled from any thread, at once and permanently."""

    def __init__(self) -> None:
        self._cut = threading.Event()
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._reason: FinishReason | None = None

    @property
    def reason(self) -> FinishReason | None:
        """The reason for the cancellation; None if not cancelled."""
        return self._reason

    def cut(self, reason: FinishReason) -> None:
        """Shut down open connections. The first reason is kept."""
        with self._lock:
            self._reason = self._reason or reason
            self._cut.set()
            for open_socket in self._sockets:
                _shut(open_socket)
            self._sockets.clear()

    def check(self) -> None:
        """Raise HungUpError if cancelled."""
        if self._cut.is_set():
            raise HungUpError("the request was broken off")

    def wait(self, seconds: float) -> None:
        """Sleep, unless cancelled. Raises HungUpError then."""
        self._cut.wait(seconds)
        self.check()

    def trace(self, name: str, info: Mapping[str, Any]) -> None:
        """Trace callback of the HTTP client (its extension "trace"): records every connection that it opens.

        There is no other access to a connection before the server's answer starts, which may take as long as reading
        the prompt.
        """
        if name not in _OPENED:
            return
        opened = info["return_value"].get_extra_info("socket")
        with self._lock:
            if self._cut.is_set():
                _shut(opened)
            else:
                self._sockets.append(opened)


def _shut(open_socket: socket.socket) -> None:
    # Not close, which does not wake a blocked reader. And the plain socket's shutdown: TLS would first send a close
    # notification.
    with suppress(OSError):
        socket.socket.shutdown(open_socket, socket.SHUT_RDWR)
