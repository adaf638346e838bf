"""Remove stored vectors that no generation needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import select, true

from data.schema import collections, generations
from data.store import Store
from retrieval.errors import RetrievalError
from retrieval.generations.folder import load_texts
from retrieval.generations.manifest import Manifest
from retrieval.indexing.vector_cache import TextHashes, prune_vectors


def prune_collection(
    store: Store, home: Path, collection_id: int | None, kept: Sequence[tuple[str, TextHashes]]
) -> int:
    """Remove stored vectors that neither ``kept`` nor a published generation needs, and return their number.

    Vectors of this collection and of deleted collections are removed. collection_id: key of the collection, None for
    deleted collections only. kept: pairs of an encoder's fingerprint and text hashes to keep. If a published generation
    cannot be read, nothing is removed, because surplus vectors are harmless.
    """
    keep: dict[str, list[TextHashes]] = {}
    for encoder, texts in kept:
        keep.setdefault(encoder, []).append(texts)
    with store.read() as connection:
        published = connection.execute(
            select(collections.c.name, generations.c.folder, generations.c.manifest)
            .join(generations, collections.c.current_generation_id == generations.c.id)
            .where(collections.c.id != collection_id if collection_id is not None else true())
        ).all()
    try:
        for name, folder, content in published:
            manifest = Manifest.from_json(content, f"the published index of {name!r}")
            keep.setdefault(manifest.encoder, []).append(load_texts(home / folder, manifest))
    except RetrievalError:
        return 0
    return prune_vectors(store, collection_id, keep)
