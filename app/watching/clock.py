"""Detect a clock that was set back after data was stored."""

from __future__ import annotations

from datetime import datetime, timedelta

CLOCK_TOLERANCE = timedelta(minutes=5)


def clock_problem(latest: datetime | None, now: datetime) -> str:
    """Return a message if the clock was set back, otherwise "". latest: latest stored time; None if there is none."""
    if latest is None or latest <= now + CLOCK_TOLERANCE:
        return ""
    return (
        f"the clock was set back: it says {now.isoformat(timespec='seconds')}, but an audit, a label or a check is of "
        f"{latest.isoformat(timespec='seconds')}. Set the clock"
    )
