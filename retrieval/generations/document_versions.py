"""Store and read document versions in the database. A row is kept as long as a generation refers to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Text, insert, select, type_coerce, update
from sqlalchemy.exc import IntegrityError

from data.document_rows import document_details, document_from_row, document_values
from data.documents import Document
from data.schema import collections, documents
from data.store import Store
from retrieval.errors import RetrievalError, UnknownCollectionError

DOCUMENT_COLUMNS = (
    documents.c.id,
    documents.c.document_id,
    documents.c.title,
    documents.c.text,
    documents.c.metadata,
    documents.c.outline,
)
"""Columns of a document version that ``stored_document`` needs: the row's key and the fields of a Document."""

_BATCH = 500
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A stored version of a document.

    row: key of the database row. characters: length of the text, so that callers can batch reads. reoutlined: whether
    the text was already stored with another outline, so that chunking by headings may give other chunks.
    """

    row: int
    sha256: str
    characters: int
    reoutlined: bool = False


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A version read from the database."""

    row: int
    document: Document


def unknown_collection(connection: Connection, name: str) -> UnknownCollectionError:
    """Return the error for an unknown collection, with the known names."""
    known = connection.execute(select(collections.c.name).order_by(collections.c.name)).scalars().all()
    return UnknownCollectionError(name, known)


def collection_key(connection: Connection, collection: str) -> int | None:
    """Return the key of the collection's row, or None if it does not exist."""
    return connection.execute(select(collections.c.id).where(collections.c.name == collection)).scalar()


def create_collection(store: Store, collection: str) -> int:
    """Return the key of the collection's row, creating the row if needed."""
    with store.write() as connection:
        key = collection_key(connection, collection)
        if key is None:
            key = connection.execute(
                insert(collections).values(name=collection).returning(collections.c.id)
            ).scalar_one()
        return int(key)


def store_documents(store: Store, collection_id: int, batch: Sequence[Document]) -> dict[str, StoredVersion]:
    """Store a version of each document in one transaction, and return the versions by document ID.

    An existing version is reused. Metadata and outline are not part of a version: the newest values overwrite the
    stored ones. The caller must hold the collection's lock.
    """
    by_id = {document.id: document for document in batch}
    hashes = {document.id: document.sha256 for document in batch}
    found: dict[str, int] = {}
    reoutlined: set[str] = set()
    with readable_rows("documents"), store.write(exclusive=False) as connection:
        for ids in batches(tuple(by_id), _BATCH):
            columns = (
                documents.c.id,
                documents.c.document_id,
                documents.c.sha256,
                documents.c.title,
                documents.c.text,
                # Read as text, so that damaged JSON is overwritten instead of stopping the job.
                type_coerce(documents.c.metadata, Text),
                type_coerce(documents.c.outline, Text),
            )
            known = select(*columns).where(documents.c.collection_id == collection_id, documents.c.document_id.in_(ids))
            for row, document_id, sha256, title, text, metadata, outline in connection.execute(known).all():
                if sha256 != hashes[document_id]:
                    continue
                document = by_id[document_id]
                found[document_id] = row
                details = document_details(document)
                if details != {"metadata": _parsed(metadata), "outline": _parsed(outline)}:
                    connection.execute(update(documents).where(documents.c.id == row).values(details))
                if details["outline"] != _parsed(outline):
                    reoutlined.add(document_id)
                if (title, text) != (document.title, document.text):  # the row was damaged: restore its content
                    fields = {"title": document.title, "text": document.text}
                    connection.execute(update(documents).where(documents.c.id == row).values(fields))
        fresh = [document_values(document, collection_id) for document in batch if document.id not in found]
        if fresh:
            returned = connection.execute(
                insert(documents).returning(documents.c.document_id, documents.c.id), fresh
            ).all()
            found.update((document_id, row) for document_id, row in returned)
    return {
        document.id: StoredVersion(
            found[document.id], hashes[document.id], len(document.text), document.id in reoutlined
        )
        for document in batch
    }


def _parsed(value: Any) -> Any:
    """Parse a JSON column that was read as text (some drivers parse it regardless)."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def read_documents(
    store: Store, versions: Sequence[StoredVersion], characters: int = 2_000_000
) -> Iterator[StoredDocument]:
    """Yield the documents of these versions in order.

    characters: approximate limit of the text in memory at a time. Raises RetrievalError if a row is damaged or missing;
    the collection's lock prevents the latter.
    """
    start = 0
    while start < len(versions):
        end, remaining = start, characters
        while end < len(versions) and end - start < _BATCH and (end == start or versions[end].characters <= remaining):
            remaining -= versions[end].characters
            end += 1
        part = versions[start:end]
        with store.read() as connection, readable_rows("documents"):
            query = select(*DOCUMENT_COLUMNS).where(documents.c.id.in_([version.row for version in part]))
            rows = {row["id"]: row for row in connection.execute(query).mappings()}
        for version in part:
            if version.row not in rows:
                raise RetrievalError(
                    f"row {version.row} of the table documents is missing; index the same sources again"
                )
            yield StoredDocument(version.row, stored_document(rows[version.row]))
        start = end


@contextmanager
def readable_rows(table: str) -> Iterator[None]:
    """Convert errors from a damaged row or a damaged table index into RetrievalError.

    A value of the wrong type raises while it is read. A row that exists but is missing from its table's index raises
    while it is written.
    """
    try:
        yield
    except IntegrityError as error:
        raise RetrievalError(
            f"the table {table} in the database is inconsistent with its own index ({error.orig}): restore a backup, "
            "or move the database away and index again"
        ) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RetrievalError(
            f"a row of the table {table} is damaged ({error}); index the same sources again"
        ) from error


def stored_document(row: Mapping[Any, Any]) -> Document:
    """Return the Document of a row with DOCUMENT_COLUMNS. Raises RetrievalError, naming the row, if it is damaged."""
    try:
        return document_from_row(row)
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise RetrievalError(
            f"row {row['id']} of the table documents is damaged ({error}); index the same sources again"
        ) from error


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield slices of at most ``size`` items, because SQL limits the number of values in a statement."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
