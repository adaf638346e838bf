"""Which encoder a collection was indexed with, published or not: a job that may choose goes on with that one."""

from __future__ import annotations

from sqlalchemy import select

from data.schema import vectors
from data.store import Store
from retrieval.errors import RetrievalError
from retrieval.generations.document_versions import collection_key
from retrieval.generations.manifest import Manifest
from retrieval.generations.publishing import PublishedGeneration


def indexed_with(store: Store, collection: str, published: PublishedGeneration | None) -> str | None:
    """The fingerprint in the published generation's manifest; where that cannot be read, or nothing is published, the
    one of vectors that a job on this collection has left. None where there are none either.
    """
    if published is not None:
        try:
            return Manifest.from_json(published.manifest, f"the published index of {collection!r}").encoder
        except RetrievalError:
            pass  # the job is about to build it again
    with store.read() as connection:
        key = collection_key(connection, collection)
        if key is None:  # NULL is what vectors of deleted collections have
            return None
        return connection.execute(select(vectors.c.encoder).where(vectors.c.collection_id == key).limit(1)).scalar()
