"""Find the encoder that a collection was indexed with, and the engine that holds its indexes."""

from __future__ import annotations

from sqlalchemy import select

from data.schema import vectors
from data.store import Store
from retrieval.engines.record import EngineRecord
from retrieval.errors import RetrievalError
from retrieval.generations.document_versions import collection_key
from retrieval.generations.manifest import Manifest
from retrieval.generations.publishing import PublishedGeneration


def indexed_with(store: Store, collection: str, published: PublishedGeneration | None) -> str | None:
    """Return the fingerprint of the encoder in the published generation's manifest.

    If nothing is published or the manifest cannot be read, returns the encoder of vectors that a job on this collection
    has stored, or None if there are none.
    """
    if published is not None:
        try:
            return Manifest.from_json(published.manifest, f"the published index of {collection!r}").encoder
        except RetrievalError:
            pass  # the job rebuilds the index
    with store.read() as connection:
        key = collection_key(connection, collection)
        if key is None:  # NULL marks vectors of deleted collections
            return None
        return connection.execute(select(vectors.c.encoder).where(vectors.c.collection_id == key).limit(1)).scalar()


def published_engine(published: PublishedGeneration | None) -> EngineRecord | None:
    """Return the engine of the published generation's indexes; None for files, or if its manifest is unreadable."""
    if published is None:
        return None
    try:
        return Manifest.from_json(published.manifest, "the published index").engine
    except RetrievalError:
        return None
