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


class RequestCancelledError(GenerationError):
    """This side cancelled the request."""


class RequestCancellation:
    """The connections of one request, which any thread can cancel, at once and permanently."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._reason: FinishReason | None = None

    @property
    def reason(self) -> FinishReason | None:
        """Reason for the cancellation; None if the request is not cancelled."""
        return self._reason

    def cancel(self, reason: FinishReason) -> None:
        """Cancel the request and shut down its connections. The first reason is kept."""
        with self._lock:
            self._reason = self._reason or reason
            self._cancelled.set()
            for open_socket in self._sockets:
                _shut(open_socket)
            self._sockets.clear()

    def check(self) -> None:
        """Raise RequestCancelledError if the request is cancelled."""
        if self._cancelled.is_set():
            raise RequestCancelledError("the request was cancelled")

    def wait(self, seconds: float) -> None:
        """Sleep. Raises RequestCancelledError as soon as the request is cancelled."""
        self._cancelled.wait(seconds)
        self.check()

    def trace(self, name: str, info: Mapping[str, Any]) -> None:
        """Record every connection that the HTTP client opens, as its extension "trace".

        The client gives no other access to a connection before the server's answer starts.
        """
        if name not in _OPENED:
            return
        opened = info["return_value"].get_extra_info("socket")
        with self._lock:
            if self._cancelled.is_set():
                _shut(opened)
            else:
                self._sockets.append(opened)


def _shut(open_socket: socket.socket) -> None:
    # close would not wake a blocked reader. The shutdown of a TLS socket would first send a close notification, so the
    # plain socket's method is called.
    with suppress(OSError):
        socket.socket.shutdown(open_socket, socket.SHUT_RDWR)
