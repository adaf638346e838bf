"""Version 1, where databases that were made before there were revisions begin. Changes nothing."""

from __future__ import annotations

revision = "1"
down_revision = None


def upgrade() -> None:
    """Nothing: the tables are there."""
