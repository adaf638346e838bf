"""Older databases brought to the present schema, one version at a time. Knows nothing of connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlalchemy import Connection, update

from data.schema import label_draws, labels, meta, metadata


def _owners_and_outlines(connection: Connection) -> None:
    """1 to 2: vectors say which collection they were made for, so that unused ones can go; documents have outlines."""
    connection.exec_driver_sql("ALTER TABLE documents ADD COLUMN outline JSON")
    connection.exec_driver_sql(
        "ALTER TABLE vectors ADD COLUMN collection_id INTEGER REFERENCES collections (id) ON DELETE SET NULL"
    )
    connection.exec_driver_sql("CREATE INDEX ix_vectors_collection_id ON vectors (collection_id)")


def _labels(connection: Connection) -> None:
    """2 to 3: what people say of responses."""
    metadata.create_all(connection, tables=[label_draws, labels])


_STEPS: Mapping[str, tuple[str, Callable[[Connection], None]]] = {
    "1": ("2", _owners_and_outlines),
    "2": ("3", _labels),
}


def can_migrate(version: str) -> bool:
    """Whether there is a way from this version to the present one."""
    return version in _STEPS


def migrate(connection: Connection, version: str) -> str:
    """Change the tables from ``version`` on, inside the caller's transaction; returns the version they have then."""
    while version in _STEPS:
        version, step = _STEPS[version]
        step(connection)
        connection.execute(update(meta).where(meta.c.key == "schema_version").values(value=version))
    return version
