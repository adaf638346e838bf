"""Retention of stored queries: permanently delete questions and answers older than a given age."""

from __future__ import annotations

import re
from datetime import timedelta

from sqlalchemy import delete, select

from app.errors import UsageError
from data.columns import utc_now
from data.schema import queries
from data.store import Store

_AGE = re.compile(r"(\d{1,6})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_AT_ONCE = 500


def parse_age(text: str) -> timedelta:
    """Parse ``90d``, ``12h`` or ``4w``. Raises UsageError for anything else."""
    match = _AGE.fullmatch(text.strip())
    if match is None or not match[1].isascii():
        raise UsageError(f"the age {text!r} cannot be read: give hours, days or weeks, such as 12h, 90d or 4w")
    return int(match[1]) * _UNITS[match[2]]


def prune_queries(store: Store, age: timedelta) -> int:
    """Delete the stored queries that are older than ``age``; returns their number. Other processes may write meanwhile.

    In SQLite the deleted bytes are overwritten, so that a copy of the file does not contain them.
    """
    before = utc_now() - age
    total = 0
    while True:
        with store.write() as connection:
            if store.path is not None:
                connection.exec_driver_sql("PRAGMA secure_delete=ON")
            oldest = select(queries.c.id).where(queries.c.created_at < before).limit(_AT_ONCE)
            found = connection.execute(oldest).scalars().all()
            if found:
                connection.execute(delete(queries).where(queries.c.id.in_(found)))
        total += len(found)
        if len(found) < _AT_ONCE:
            return total
