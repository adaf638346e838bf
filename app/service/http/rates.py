"""How much each key may ask for: token buckets in memory, one process's own. Knows nothing of HTTP.

A bucket holds one minute's worth and refills all the time, so that a key may spend a minute's worth at once and then
has what has flown in since (Turner 1986, "New directions in communications", the leaky bucket as a meter).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

_MINUTE_S = 60.0
_KEPT = 10_000


@dataclass(slots=True)
class _Bucket:
    level: float
    at: float


class RateLimiter:
    """Safe to use from threads. clock: seconds, never going back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def take(self, name: str, per_minute: int, amount: float = 1.0) -> float:
        """Take ``amount`` from a bucket; returns 0, or the seconds until there will be enough (nothing is taken then).

        An amount larger than a minute's worth is taken from a full bucket, which then owes the rest.
        """
        with self._lock:
            bucket = self._filled(name, per_minute)
            needed = min(amount, float(per_minute))
            if bucket.level >= needed:
                bucket.level -= amount
                return 0.0
            return (needed - bucket.level) * _MINUTE_S / per_minute

    def wait(self, name: str, per_minute: int) -> float:
        """Seconds until one can be taken; 0 where one can be now. Takes nothing."""
        with self._lock:
            return max(0.0, (1.0 - self._filled(name, per_minute).level) * _MINUTE_S / per_minute)

    def owe(self, name: str, per_minute: int, amount: float) -> None:
        """Take what was used already, into debt if need be: what it will be is not known before it is done."""
        with self._lock:
            self._filled(name, per_minute).level -= amount

    def _filled(self, name: str, per_minute: int) -> _Bucket:
        now = self._clock()
        bucket = self._buckets.get(name)
        if bucket is None:
            if len(self._buckets) >= _KEPT:  # a full bucket is the same as none
                self._buckets = {k: b for k, b in self._buckets.items() if now - b.at < _MINUTE_S}
            bucket = self._buckets[name] = _Bucket(float(per_minute), now)
        bucket.level = min(float(per_minute), bucket.level + (now - bucket.at) * per_minute / _MINUTE_S)
        bucket.at = now
        return bucket
