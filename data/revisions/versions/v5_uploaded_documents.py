"""Record whether documents were uploaded, so that indexing a folder does not remove them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    """Add a column. Existing documents count as not uploaded, because their origin is unknown."""
    op.add_column("documents", sa.Column("uploaded", sa.Boolean(), nullable=False, server_default=sa.false()))
