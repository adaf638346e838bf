"""Configure the index engines from the settings."""

from __future__ import annotations

from app.settings import Settings
from retrieval.engines.engines import Engines


def engines_of(settings: Settings) -> Engines:
    """Return the index engines at the addresses in the settings.

    By default, pgvector uses the database itself if it is PostgreSQL, and Milvus uses a file in the home.
    """
    url = settings.database_url
    own = "" if url.startswith("sqlite") else url
    return Engines(
        settings.pgvector_url.get_secret_value(),
        settings.milvus_url,
        milvus_token=settings.milvus_token.get_secret_value(),
        own_database=own,
        own_file=str(settings.home_folder / "milvus.db"),
    )
