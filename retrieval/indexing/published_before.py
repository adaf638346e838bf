"""Read the generation that is published before an indexing job replaces it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from data.store import Store
from retrieval.errors import RetrievalError
from retrieval.generations.collection_folder import generations_folder
from retrieval.generations.folder import ChunkTable, check_folder, check_hash, load_table
from retrieval.generations.manifest import Manifest
from retrieval.generations.publishing import PublishedGeneration, current_generation, generation_versions


@dataclass(frozen=True, slots=True)
class PublishedBefore:
    """The generation that is published when a job starts.

    published: its database row, None if there is none. manifest, table: None if there is none or it is damaged.
    versions: SHA-256 of each document by document ID.
    """

    published: PublishedGeneration | None
    manifest: Manifest | None
    table: ChunkTable | None
    versions: Mapping[str, str]


def published_before(store: Store, home: Path, collection: str) -> PublishedBefore:
    """Read the published generation. If it is damaged, no error is raised, because the job rebuilds it."""
    try:
        with store.read() as connection:
            published = current_generation(connection, collection)
            versions = generation_versions(connection, published.key) if published else {}
    except RetrievalError:  # the row itself is damaged
        return PublishedBefore(None, None, None, {})
    if published is None:
        return PublishedBefore(None, None, None, versions)
    try:
        manifest = Manifest.from_json(published.manifest, f"the published index of {collection!r}")
        folder = generations_folder(home, collection) / manifest.folder
        if (published.hash, home / published.folder) != (manifest.hash, folder):
            return PublishedBefore(published, None, None, versions)
        check_folder(folder, manifest)
        table = load_table(folder)
        check_hash(folder, table, manifest)
    except RetrievalError:
        return PublishedBefore(published, None, None, versions)
    return PublishedBefore(published, manifest, table, versions)
