"""The index engines that the settings name."""

from __future__ import annotations

from app.settings import Settings
from retrieval.engines.engines import Engines


def engines_of(settings: Settings) -> Engines:
    """Engines at the addresses of the settings. pgvector's default is the database itself, if it is PostgreSQL."""
    url = settings.database_url
    own = "" if url.startswith("sqlite") else url
    return Engines(pgvector=settings.pgvector_url.get_secret_value(), own_database=own)
