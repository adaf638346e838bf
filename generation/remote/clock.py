"""Injectable time and randomness for a connection's waits, so that tests need not wait."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Timing:
    """clock: seconds, monotonic. uniform: in [0, 1), for jitter."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    uniform: Callable[[], float] = random.random
    now: Callable[[], datetime] = _utc_now
