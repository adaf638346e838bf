"""Breaking off a request that another thread waits for: its connection is shut, whatever it waits for."""

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
    """The request was broken off on this side."""


class RequestCancellation:
    """The lines of one request. Cut from any thread, at once and for good: nothing is asked over it again."""

    def __init__(self) -> None:
        self._cut = threading.Event()
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._reason: FinishReason | None = None

    @property
    def reason(self) -> FinishReason | None:
        """Why it was cut; None while it is not."""
        return self._reason

    def cut(self, reason: FinishReason) -> None:
        """Shut what is open. The first reason stays."""
        with self._lock:
            self._reason = self._reason or reason
            self._cut.set()
            for held in self._sockets:
                _shut(held)
            self._sockets.clear()

    def check(self) -> None:
        """Raise HungUpError if it was cut."""
        if self._cut.is_set():
            raise HungUpError("the request was broken off")

    def wait(self, seconds: float) -> None:
        """Let time pass, unless it is cut. Raises HungUpError then."""
        self._cut.wait(seconds)
        self.check()

    def trace(self, name: str, info: Mapping[str, Any]) -> None:
        """Told by the HTTP client of what it does (its extension "trace"): notes every connection that it opens.

        That is the only way to one before the server's answer begins, which may take as long as reading the prompt.
        """
        if name not in _OPENED:
            return
        opened = info["return_value"].get_extra_info("socket")
        with self._lock:
            if self._cut.is_set():
                _shut(opened)
            else:
                self._sockets.append(opened)


def _shut(held: socket.socket) -> None:
    # Not close: that wakes nobody who reads. And the plain socket's own shutdown: TLS would want to say goodbye first.
    with suppress(OSError):
        socket.socket.shutdown(held, socket.SHUT_RDWR)
