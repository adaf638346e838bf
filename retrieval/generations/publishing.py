"""Read and replace the published generation of a collection in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from data.columns import utc_now
from data.schema import collections, documents, generation_documents, generations
from data.store import Store
from retrieval.generations.document_versions import StoredVersion, batches, readable_rows
from retrieval.generations.manifest import Manifest


@dataclass(frozen=True, slots=True)
class PublishedGeneration:
    """The database row of a published generation.

    key: key of the row. hash: hash of the generation. folder: its folder, relative to the home. manifest: manifest as
    JSON, not validated.
    """

    key: int
    hash: str
    folder: Path
    manifest: Mapping[str, Any]
    published_at: datetime | None


def current_generation(connection: Connection, collection: str) -> PublishedGeneration | None:
    """Return the published generation, or None if there is none or the collection does not exist."""
    with readable_rows("generations"):
        found = connection.execute(
            select(
                generations.c.id,
                generations.c.hash,
                generations.c.folder,
                generations.c.manifest,
                generations.c.published_at,
            )
            .join(
                collections,
                (collections.c.current_generation_id == generations.c.id)
                # Even if the row is damaged, another collection's generation must not be returned.
                & (generations.c.collection_id == collections.c.id),
            )
            .where(collections.c.name == collection, generations.c.status == "published")
        ).one_or_none()
    if found is None:
        return None
    key, name, folder, manifest, published_at = found
    return PublishedGeneration(key, name, Path(folder), manifest or {}, published_at)


def generation_versions(connection: Connection, generation: int) -> dict[str, str]:
    """Return the SHA-256 of each document of a generation, by document ID."""
    rows = connection.execute(
        select(documents.c.document_id, documents.c.sha256)
        .join(generation_documents, generation_documents.c.document_row == documents.c.id)
        .where(generation_documents.c.generation_id == generation)
    ).all()
    return {row.document_id: row.sha256 for row in rows}


def publish_generation(
    store: Store, collection_id: int, manifest: Manifest, folder: Path, versions: Sequence[StoredVersion]
) -> None:
    """Publish a generation in one transaction.

    The caller must hold the collection's lock. The previous generation is marked as retired and releases its documents.
    Document versions that no generation uses are deleted. folder: the generation's folder relative to the home, so that
    the home can be moved.
    """
    values = {
        "folder": folder.as_posix(),
        "status": "published",
        "manifest": manifest.to_json(),
        "published_at": utc_now(),
    }
    with readable_rows("generations"), store.write(exclusive=False) as connection:
        same_hash = (generations.c.collection_id == collection_id) & (generations.c.hash == manifest.hash)
        key = connection.execute(select(generations.c.id).where(same_hash)).scalar()
        if key is None:
            row = {"collection_id": collection_id, "hash": manifest.hash, **values}
            key = connection.execute(insert(generations).values(row).returning(generations.c.id)).scalar_one()
        else:
            connection.execute(update(generations).where(generations.c.id == key).values(values))
        in_collection = generations.c.collection_id == collection_id
        others = in_collection & (generations.c.id != key)
        connection.execute(update(generations).where(others).values(status="retired"))
        in_generation = generation_documents.c.generation_id.in_(select(generations.c.id).where(in_collection))
        connection.execute(delete(generation_documents).where(in_generation))
        for part in batches(versions, 10_000):
            connection.execute(
                insert(generation_documents), [{"generation_id": key, "document_row": v.row} for v in part]
            )
        connection.execute(
            update(collections).where(collections.c.id == collection_id).values(current_generation_id=key)
        )
        used = select(generation_documents.c.document_row)
        connection.execute(
            delete(documents).where(documents.c.collection_id == collection_id, documents.c.id.not_in(used))
        )
