"""Admission control: a limited number of active requests, a limited queue, and immediate refusal of all others.

A refusal only reads counters and never waits.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from app.service.http.errors import ApiError

_LONGEST_RETRY_S = 600


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of admission. active: maximum concurrent requests. waiting: maximum queue length. least_memory: bytes that
    must remain free; 0 for no check.
    """

    active: int
    waiting: int
    least_memory: int = 0


class Slot:
    """A slot held by an active request. on_release: called once, with the seconds that the slot was held."""

    def __init__(self, on_release: Callable[[float], None]) -> None:
        self._released: Callable[[float], None] | None = on_release
        self._started = perf_counter()

    def release(self) -> None:
        """Release the slot. A second call has no effect."""
        if self._released is not None:
            on_release, self._released = self._released, None
            on_release(perf_counter() - self._started)


class Admission:
    """Admission control of one event loop. memory_left: returns the free bytes, None if unknown."""

    def __init__(self, limits: Limits, memory_left: Callable[[], int | None] = lambda: None) -> None:
        self._limits, self._memory_left = limits, memory_left
        self._active = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._seconds = 1.0  # recent average duration of a request
        self._idle = asyncio.Event()
        self._idle.set()
        self.draining = False

    @property
    def active(self) -> int:
        """Number of active requests."""
        return self._active

    @property
    def waiting(self) -> int:
        """Number of waiting requests."""
        return len(self._waiting)

    @property
    def inside(self) -> int:
        """Number of active and waiting requests."""
        return self._active + len(self._waiting)

    async def enter(self) -> Slot:
        """Wait for a slot. The caller releases it with ``release``.

        Raises ApiError at once: 429 if the queue is full, 503 if memory is short or the server is stopping. Waiting
        requests get the 503 when the server stops.
        """
        refusal = self.refusal() or self._memory_short()
        if refusal is not None:
            raise refusal
        if self._active >= self._limits.active:
            await self._wait()
        else:
            self._take()
        return Slot(self._released)

    def refusal(self) -> ApiError | None:
        """Return 429 if the queue is full, 503 if the server is stopping, else None. Only counters are read."""
        if self.draining:
            return stopping()
        if self._active >= self._limits.active and len(self._waiting) >= self._limits.waiting:
            return ApiError(
                429,
                f"{self._limits.waiting} requests are waiting already: try again later",
                code="queue_full",
                retry_after=self._retry_after(),
            )
        return None

    def drain(self) -> None:
        """Admit no more requests, and refuse the waiting ones."""
        self.draining = True
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_exception(stopping())

    async def idle(self) -> None:
        """Wait until no request is active."""
        await self._idle.wait()

    def _memory_short(self) -> ApiError | None:
        on_release = self._memory_left() if self._limits.least_memory else None
        if on_release is None or on_release >= self._limits.least_memory:
            return None
        return ApiError(
            503,
            "memory is short: try again when other requests are done",
            code="out_of_memory",
            retry_after=self._retry_after(),
        )

    def _retry_after(self) -> int:
        """Return the estimated seconds until half of the present requests are done, at the recent average duration."""
        rounds = max(1.0, self.inside / (2 * self._limits.active))
        return min(max(1, math.ceil(self._seconds * rounds)), _LONGEST_RETRY_S)

    def _take(self) -> None:
        self._active += 1
        self._idle.clear()

    async def _wait(self) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await future  # _release passes its slot to the next waiting request
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self._release()  # it had just received a slot
            elif future in self._waiting:
                self._waiting.remove(future)
            raise

    def _released(self, seconds: float) -> None:
        self._seconds += 0.2 * (seconds - self._seconds)
        self._release()

    def _release(self) -> None:
        self._active -= 1
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                self._take()
                future.set_result(None)
                return
        if not self._active:
            self._idle.set()


def stopping() -> ApiError:
    """Return the 503 error of a stopping server. The client may retry at another server, or here later."""
    return ApiError(503, "the server is stopping: try again", code="shutting_down", retry_after=1)
