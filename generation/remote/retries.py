"""The retry policy: which statuses to retry, and how long to wait."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

RETRIED = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))
"""HTTP statuses for which another attempt may succeed."""

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LIMITED = ("requests", "tokens")
_LONGEST = 100  # characters: a longer header value is not a time


def backoff(attempt: int, first: float, most: float, uniform: float) -> float:
    """Return the seconds to wait after attempt number ``attempt`` (from 1) failed.

    The wait is uniform * min(most, first * 2**(attempt - 1)), with "full jitter" (Brooker 2015, Exponential Backoff and
    Jitter), so that clients that failed together do not return together. It is at least a tenth of the maximum, so that
    a server that is starting does not get several requests at once. first, most: first and longest wait in seconds.
    uniform: random number in [0, 1).
    """
    longest = min(most, first * 2.0 ** min(attempt - 1, 60))
    return longest * max(0.1, uniform)


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds to wait that the server asks for; None if it does not.

    It asks with Retry-After (seconds or a date), or with the reset time of an exhausted rate limit.
    """
    given = headers.get("retry-after-ms")
    wait = _number(given, 0.001) if given is not None else None
    if wait is None and (given := headers.get("retry-after")) is not None:
        wait = _number(given, 1.0)
        if wait is None:
            wait = _until(given, now)
    resets = [
        _duration(headers.get(f"x-ratelimit-reset-{what}", ""))
        for what in _LIMITED
        if _number(headers.get(f"x-ratelimit-remaining-{what}", ""), 1.0) == 0
    ]
    known = [seconds for seconds in (wait, *resets) if seconds is not None]
    return max(known) if known else None


def _number(text: str, unit: float) -> float | None:
    try:
        value = float(text[:_LONGEST])
    except ValueError:
        return None
    return value * unit if math.isfinite(value) and value >= 0 else None


def _until(text: str, now: datetime) -> float | None:
    try:
        then = parsedate_to_datetime(text[:_LONGEST])
        then = then if then.tzinfo is not None else then.replace(tzinfo=UTC)
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError, OverflowError):  # a year of twenty digits overflows
        return None


def _duration(text: str) -> float | None:
    """Parse ``6m0s``, ``120ms`` or plain seconds."""
    if len(text) > _LONGEST:
        return None
    plain = _number(text, 1.0)
    if plain is not None:
        return plain
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text.strip():
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)
