"""One answer at a time, a bounded number of requests that wait, and a refusal at once for the rest."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter

from app.service.errors import ApiError


class Gate:
    """Belongs to one event loop. waiting: how many may wait while one is served, in order of arrival."""

    def __init__(self, waiting: int) -> None:
        self._most = waiting + 1
        self._inside = 0
        self._turn = asyncio.Lock()  # first come, first served
        self._seconds = 1.0

    @property
    def inside(self) -> int:
        """Requests that are served or wait."""
        return self._inside

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for one's turn and hold it. Raises ApiError 429 at once when too many wait already."""
        if self._inside >= self._most:
            # When the queue will have moved on if each takes as long as the last one did.
            raise ApiError(
                429,
                f"{self._most - 1} requests are waiting already: try again later",
                code="queue_full",
                retry_after=min(max(1, math.ceil(self._seconds * self._inside / 2)), 600),
            )
        self._inside += 1
        try:
            async with self._turn:
                started = perf_counter()
                yield
                self._seconds = perf_counter() - started
        finally:
            self._inside -= 1
