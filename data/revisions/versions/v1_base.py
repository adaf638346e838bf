"""Version 1, the base for databases from before revisions existed. Changes nothing."""

from __future__ import annotations

revision = "1"
down_revision = None


def upgrade() -> None:
    """No change: the tables exist."""
