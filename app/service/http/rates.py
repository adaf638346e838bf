"""Rate limits per key: token buckets in the memory of one process. They do not depend on HTTP.

Processes that share a database server count in the database instead (shared_rates.py).

A bucket holds the quota of one minute and refills continuously. A key may therefore use its quota at once and then
waits for the refill (Turner 1986, "New directions in communications", the leaky bucket as a meter).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

MINUTE_S = 60.0
_KEPT = 10_000


@dataclass(slots=True)
class _Bucket:
    level: float
    at: float


class Rates(Protocol):
    """Token buckets by name.

    blocking: whether ``take`` and ``wait`` query a database, so that an event loop must call them in a thread.
    """

    blocking: bool

    def take(self, name: str, per_minute: int, amount: float = 1.0) -> float:
        """See RateLimiter."""
        ...

    def wait(self, name: str, per_minute: int) -> float:
        """See RateLimiter."""
        ...

    def charge(self, name: str, per_minute: int, amount: float) -> None:
        """See RateLimiter."""
        ...


class RateLimiter:
    """Token buckets in memory. Thread-safe. clock: returns monotonic time in seconds."""

    blocking = False

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def take(self, name: str, per_minute: int, amount: float = 1.0) -> float:
        """Take ``amount`` from a bucket. Returns 0, or the seconds until there is enough; then nothing is taken.

        An amount larger than the quota of a minute needs a full bucket, which then goes into debt.
        """
        with self._lock:
            bucket = self._filled(name, per_minute)
            needed = min(amount, float(per_minute))
            if bucket.level >= needed:
                bucket.level -= amount
                return 0.0
            return (needed - bucket.level) * MINUTE_S / per_minute

    def wait(self, name: str, per_minute: int) -> float:
        """Return the seconds until one unit is available; 0 if one is available now. Takes nothing."""
        with self._lock:
            return max(0.0, (1.0 - self._filled(name, per_minute).level) * MINUTE_S / per_minute)

    def charge(self, name: str, per_minute: int, amount: float) -> None:
        """Deduct an amount that was used already. The bucket may go into debt."""
        with self._lock:
            self._filled(name, per_minute).level -= amount

    def _filled(self, name: str, per_minute: int) -> _Bucket:
        now = self._clock()
        bucket = self._buckets.get(name)
        if bucket is None:
            if len(self._buckets) >= _KEPT:  # a full bucket need not be stored
                self._buckets = {k: b for k, b in self._buckets.items() if now - b.at < MINUTE_S}
            bucket = self._buckets[name] = _Bucket(float(per_minute), now)
        bucket.level = min(float(per_minute), bucket.level + (now - bucket.at) * per_minute / MINUTE_S)
        bucket.at = now
        return bucket
