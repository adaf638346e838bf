"""Older databases brought to the present schema by Alembic, one version at a time. Knows nothing of connections.

To change the tables: change schema.py, raise SCHEMA_VERSION there by one, and add a file to data/revisions/versions
whose ``revision`` is the new number. A test holds a database that was brought along against one that was made new.
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
    """Whether there is a way from this version to the present one."""
    return version.isdecimal() and 1 <= int(version) < int(SCHEMA_VERSION)


def migrate(connection: Connection, version: str) -> str:
    """Change the tables from ``version`` on, inside the caller's transaction; returns the version they have then."""
    from alembic import command

    config = _config(connection)
    command.stamp(config, version)
    command.upgrade(config, SCHEMA_VERSION)
    connection.execute(update(meta).where(meta.c.key == "schema_version").values(value=SCHEMA_VERSION))
    return SCHEMA_VERSION


def stamp(connection: Connection) -> None:
    """Note in new tables that they are of the present version, for Alembic and whoever works with it."""
    from alembic import command

    command.stamp(_config(connection), SCHEMA_VERSION)


def _config(connection: Connection) -> Config:
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(_REVISIONS).replace("%", "%%"))
    return config
