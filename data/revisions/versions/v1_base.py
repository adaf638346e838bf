"""Version 1, the base for databases that are older than the revisions. It changes nothing."""

from __future__ import annotations

revision = "1"
down_revision = None


def upgrade() -> None:
    """Change nothing, because the tables exist."""
