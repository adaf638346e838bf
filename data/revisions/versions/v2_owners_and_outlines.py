"""Add the collection of vectors, so that unused vectors can be removed, and the outline of documents."""

from __future__ import annotations

from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Add a column to each of the two tables, and an index."""
    op.execute("ALTER TABLE documents ADD COLUMN outline JSON")
    op.execute("ALTER TABLE vectors ADD COLUMN collection_id INTEGER REFERENCES collections (id) ON DELETE SET NULL")
    op.create_index("ix_vectors_collection_id", "vectors", ["collection_id"])
