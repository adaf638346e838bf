"""Thread-safe callbacks into an event loop. All callbacks that are posted meanwhile share one wake-up of the loop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress


class LoopCallbacks:
    """A queue of callbacks for the event loop in which it is created."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._callbacks: deque[Callable[[], None]] = deque()
        self._scheduled = False

    def post(self, callback: Callable[[], None]) -> None:
        """Schedule a callback in the event loop, in order. Call from any thread. Returns at once and raises nothing."""
        self._callbacks.append(callback)
        if not self._scheduled:
            self._scheduled = True
            with suppress(RuntimeError):  # the loop is closed: nobody waits for callbacks any more
                self._loop.call_soon_threadsafe(self._run)

    def _run(self) -> None:
        self._scheduled = False  # reset first: a callback posted from now on schedules its own wake-up
        while self._callbacks:
            self._callbacks.popleft()()
