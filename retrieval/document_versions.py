"""Documents as rows: each row one version of one document, kept as long as a generation answers from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection, insert, select, update

from data.documents import Document
from data.schema import collections, documents
from data.store import Store

_BATCH = 500
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """row: its key. characters: the length of its text, for those who read many."""

    row: int
    sha256: str
    characters: int


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A version as it was read back."""

    row: int
    document: Document


def collection_key(connection: Connection, collection: str) -> int | None:
    """The key of the collection's row, or None if there is none."""
    return connection.execute(select(collections.c.id).where(collections.c.name == collection)).scalar()


def create_collection(store: Store, collection: str) -> int:
    """The key of the collection's row, which is made if there is none."""
    with store.write() as connection:
        key = collection_key(connection, collection)
        if key is None:
            key = connection.execute(
                insert(collections).values(name=collection).returning(collections.c.id)
            ).scalar_one()
        return int(key)


def store_documents(store: Store, collection_id: int, batch: Sequence[Document]) -> dict[str, StoredVersion]:
    """Keep a version of each document, in one transaction; by document id.

    A version that is stored already is reused. Metadata is no part of a version, so the newest is written over it.
    """
    wanted = {document.id: document for document in batch}
    hashes = {document.id: document.sha256 for document in batch}
    found: dict[str, int] = {}
    with store.write() as connection:
        for ids in batches(tuple(wanted), _BATCH):
            columns = (documents.c.id, documents.c.document_id, documents.c.sha256, documents.c.metadata)
            known = select(*columns).where(documents.c.collection_id == collection_id, documents.c.document_id.in_(ids))
            for row, document_id, sha256, metadata in connection.execute(known).all():
                if sha256 != hashes[document_id]:
                    continue
                found[document_id] = row
                if metadata != dict(wanted[document_id].metadata):
                    values = {"metadata": dict(wanted[document_id].metadata)}
                    connection.execute(update(documents).where(documents.c.id == row).values(values))
        fresh = [
            {
                "collection_id": collection_id,
                "document_id": document.id,
                "sha256": hashes[document.id],
                "title": document.title,
                "text": document.text,
                "metadata": dict(document.metadata),
            }
            for document in batch
            if document.id not in found
        ]
        if fresh:
            returned = connection.execute(
                insert(documents).returning(documents.c.document_id, documents.c.id), fresh
            ).all()
            found.update((document_id, row) for document_id, row in returned)
    return {
        document.id: StoredVersion(found[document.id], hashes[document.id], len(document.text)) for document in batch
    }


def read_documents(
    store: Store, versions: Sequence[StoredVersion], characters: int = 8_000_000
) -> Iterator[StoredDocument]:
    """The documents of these versions, in this order, at most about ``characters`` of text in memory at a time.

    Raises KeyError if a row is gone, which the collection's lock prevents.
    """
    start = 0
    while start < len(versions):
        end, room = start, characters
        while end < len(versions) and end - start < _BATCH and (end == start or versions[end].characters <= room):
            room -= versions[end].characters
            end += 1
        part = versions[start:end]
        columns = (documents.c.id, documents.c.document_id, documents.c.title, documents.c.text)
        with store.read() as connection:
            wanted = select(*columns).where(documents.c.id.in_([version.row for version in part]))
            read = {
                row: Document(document_id, title, text) for row, document_id, title, text in connection.execute(wanted)
            }
        for version in part:
            yield StoredDocument(version.row, read[version.row])
        start = end


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Slices of at most ``size`` items. SQL limits how many values a statement may hold."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
