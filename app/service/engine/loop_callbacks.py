"""Thread-safe callbacks into the event loop, delivered in batches: one wake-up for all callbacks posted meanwhile."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress


class LoopCallbacks:
    """Belongs to the event loop in which it is created."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._letters: deque[Callable[[], None]] = deque()
        self._due = False

    def post(self, letter: Callable[[], None]) -> None:
        """Schedule ``letter`` in the event loop, in order. Call from any thread; returns at once and raises nothing."""
        self._letters.append(letter)
        if not self._due:
            self._due = True
            with suppress(RuntimeError):  # the loop is closed: nobody waits for callbacks any more
                self._loop.call_soon_threadsafe(self._empty)

    def _empty(self) -> None:
        self._due = False  # reset first: anything posted from here on schedules its own wake-up
        while self._letters:
            self._letters.popleft()()
