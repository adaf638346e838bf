"""Alembic environment. It runs revisions on the connection of data/migrations.py, inside its transaction."""

from __future__ import annotations

from alembic import context

from data.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
