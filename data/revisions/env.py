"""Alembic environment: runs revisions on the connection (and in the transaction) of data/migrations.py."""

from __future__ import annotations

from alembic import context

from data.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
