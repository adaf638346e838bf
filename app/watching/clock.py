"""Detect a clock that was set back since something was stored."""

from __future__ import annotations

from datetime import datetime, timedelta

CLOCK_TOLERANCE = timedelta(minutes=5)


def clock_problem(latest: datetime | None, now: datetime) -> str:
    """What is wrong with the clock, "" if nothing. latest: the latest time that is stored."""
    if latest is None or latest <= now + CLOCK_TOLERANCE:
        return ""
    return (
        f"the clock was set back: it says {now.isoformat(timespec='seconds')}, but an audit, a label or a check is of "
        f"{latest.isoformat(timespec='seconds')}. Set the clock"
    )
