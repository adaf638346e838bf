"""The clock and randomness of a connection, which tests can replace."""

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
    """The clock and randomness that a connection uses.

    clock: returns monotonic seconds. sleep: waits for a number of seconds. uniform: returns a random number in [0, 1),
    for jitter. now: returns the date and time.
    """

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    uniform: Callable[[], float] = random.random
    now: Callable[[], datetime] = _utc_now
