"""Letters from other threads to the event loop, carried over together: one wake-up for all that came meanwhile."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress


class LoopCallbacks:
    """Belongs to the event loop that it is made in."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._letters: deque[Callable[[], None]] = deque()
        self._due = False

    def post(self, letter: Callable[[], None]) -> None:
        """Have ``letter`` called in the event loop, in order. From any thread; returns at once and raises nothing."""
        self._letters.append(letter)
        if not self._due:
            self._due = True
            with suppress(RuntimeError):  # the loop is closed: nobody waits for letters any more
                self._loop.call_soon_threadsafe(self._empty)

    def _empty(self) -> None:
        self._due = False  # first: what is posted from here on makes its own call
        while self._letters:
            self._letters.popleft()()
