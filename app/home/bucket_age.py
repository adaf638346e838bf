"""Delete unused rows of rate limits. A full token bucket needs no row."""

from __future__ import annotations

from sqlalchemy import delete

from data.columns import database_now
from data.schema import rate_buckets
from data.store import Store


def prune_buckets(store: Store) -> int:
    """Delete the buckets that are full again and return their number."""
    with store.write(exclusive=False) as connection:
        full_again = rate_buckets.c.full_at < database_now(connection)
        return connection.execute(delete(rate_buckets).where(full_again)).rowcount
