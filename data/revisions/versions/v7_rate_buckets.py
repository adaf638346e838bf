"""Add the rate limits of API keys, which all processes that use the database share."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from data.columns import UtcDateTime

revision = "7"
down_revision = "6"


def upgrade() -> None:
    """Add the table rate_buckets with an index."""
    op.create_table(
        "rate_buckets",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("full_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_rate_buckets"),
    )
    op.create_index("ix_rate_buckets_full_at", "rate_buckets", ["full_at"])
