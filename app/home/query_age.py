"""Permanently delete stored queries and texts of audits that are older than a given age."""

from __future__ import annotations

import re
from datetime import timedelta

from sqlalchemy import Table, delete, null, select, update

from app.errors import UsageError
from data.columns import utc_now
from data.schema import audits, queries
from data.store import Store

_AGE = re.compile(r"(\d{1,6})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_BATCH_SIZE = 500


def parse_age(text: str) -> timedelta:
    """Parse an age such as ``90d``, ``12h`` or ``4w``. Raises UsageError for an invalid one."""
    match = _AGE.fullmatch(text.strip())
    if match is None or not match[1].isascii():
        raise UsageError(f"the age {text!r} is invalid: give hours, days or weeks, such as 12h, 90d or 4w")
    return int(match[1]) * _UNITS[match[2]]


def prune_queries(store: Store, age: timedelta) -> int:
    """Delete the stored queries that are older than ``age`` and return their number.

    Other processes may write at the same time. In SQLite the deleted bytes are overwritten, so that a copy of the file
    does not contain them.
    """
    return _prune(store, age, queries)


def prune_audits(store: Store, age: timedelta) -> int:
    """Delete the texts of audits that are older than ``age`` and return their number.

    Labels, scores and probabilities are kept, so that the figures of ``plumbline watch`` do not change. An audit
    without a label can no longer be labelled and counts as lapsed.
    """
    return _prune(store, age, audits)


def _prune(store: Store, age: timedelta, table: Table) -> int:
    oldest_kept = utc_now() - age
    key = next(iter(table.primary_key.columns))
    conditions = [table.c.created_at < oldest_kept]
    if table is audits:
        conditions.append(audits.c.content.is_not(None))
    total = 0
    while True:
        with store.write(exclusive=False) as connection:
            if store.path is not None:
                connection.exec_driver_sql("PRAGMA secure_delete=ON")
            keys = connection.execute(select(key).where(*conditions).limit(_BATCH_SIZE)).scalars().all()
            if keys and table is audits:
                connection.execute(update(audits).where(key.in_(keys)).values(content=null()))
            elif keys:
                connection.execute(delete(table).where(key.in_(keys)))
        total += len(keys)
        if len(keys) < _BATCH_SIZE:
            return total
