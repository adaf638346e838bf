"""Schema migrations: Alembic's environment, and one revision for each schema version."""
