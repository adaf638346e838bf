"""Definitions that all tables share: schema version, constraint names, JSON types and the table ``meta``."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Column, MetaData, String, Table, Text, TypedColumns

SCHEMA_VERSION = "7"
"""Version of the tables. Every change increments it and adds a revision of that number to data/revisions/versions.

The store compares it with ``schema_version`` in the table ``meta`` at start.
"""

# Every constraint has a predictable name, because a migration can only drop a named one.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# none_as_null: a Python None becomes SQL NULL, not the JSON text 'null', so that NOT NULL works.
OBJECT: JSON[dict[str, Any]] = JSON(none_as_null=True)
OBJECTS: JSON[list[dict[str, Any]]] = JSON(none_as_null=True)
WORDS: JSON[list[str]] = JSON(none_as_null=True)


class _MetaColumns(TypedColumns):
    key = Column(String(64), primary_key=True)
    value = Column(Text, nullable=False)


meta = Table("meta", metadata, _MetaColumns)
