"""Migrate older databases to the current schema with Alembic, one version at a time.

To change the tables: change schema.py, raise SCHEMA_VERSION there by one, and add a file to data/revisions/versions
whose ``revision`` is the new number. A test compares a migrated database with a new one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, update

from data.schema import SCHEMA_VERSION, meta

if TYPE_CHECKING:
    from alembic.config import Config

_REVISIONS = Path(__file__).parent / "revisions"


def can_migrate(version: str) -> bool:
    """Return whether this version can be migrated to the current one."""
    return version.isdecimal() and 1 <= int(version) < int(SCHEMA_VERSION)


def migrate(connection: Connection, version: str) -> str:
    """Migrate the tables from ``version`` to the current version, inside the caller's transaction.

    Returns the new version.
    """
    from alembic import command

    config = _config(connection)
    command.stamp(config, version)
    command.upgrade(config, SCHEMA_VERSION)
    connection.execute(update(meta).where(meta.c.key == "schema_version").values(value=SCHEMA_VERSION))
    return SCHEMA_VERSION


def stamp(connection: Connection) -> None:
    """Record the current version in new tables, for Alembic."""
    from alembic import command

    command.stamp(_config(connection), SCHEMA_VERSION)


def _config(connection: Connection) -> Config:
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(_REVISIONS).replace("%", "%%"))
    return config
