"""Vectors say which collection they were made for, so that unused ones can go; documents have outlines."""

from __future__ import annotations

from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """One column each, and an index."""
    op.execute("ALTER TABLE documents ADD COLUMN outline JSON")
    op.execute("ALTER TABLE vectors ADD COLUMN collection_id INTEGER REFERENCES collections (id) ON DELETE SET NULL")
    op.create_index("ix_vectors_collection_id", "vectors", ["collection_id"])
