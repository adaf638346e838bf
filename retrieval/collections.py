"""List, open, check and delete collections."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, delete, func, select, update

from data.documents import Document
from data.schema import collections, documents, generation_documents, generations
from data.store import Store
from retrieval.chunking.chunks import Chunk
from retrieval.encoding.encoder import Encoder, serves
from retrieval.engines.engines import LOCAL, Engines
from retrieval.engines.record import EngineName
from retrieval.errors import RetrievalError, UnpublishedCollectionError
from retrieval.generations.collection_folder import (
    check_name,
    collection_folder,
    collection_lock,
    generations_folder,
)
from retrieval.generations.document_versions import (
    DOCUMENT_COLUMNS,
    StoredVersion,
    collection_key,
    readable_rows,
    stored_document,
    unknown_collection,
)
from retrieval.generations.folder import ChunkTable, drop_indexes, load_generation
from retrieval.generations.manifest import DocumentVersion, Manifest
from retrieval.generations.publishing import PublishedGeneration, current_generation
from retrieval.indexing.pruning import prune_collection
from retrieval.retriever import Retriever

_TRIES = 3


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    """Summary of a collection.

    name: internal name. label: the name that the tenant uses; None if it is the same. tenant: the owner, "" for the
    local user. vectors: the engine that holds the indexes. The other fields describe the published generation; they are
    None or 0 if there is none.
    """

    name: str
    created_at: datetime
    documents: int = 0
    chunks: int = 0
    generation_hash: str | None = None
    encoder: str | None = None
    published_at: datetime | None = None
    label: str | None = None
    tenant: str = ""
    vectors: EngineName | None = None

    @property
    def shown(self) -> str:
        """The name that the tenant uses."""
        return self.label or self.name


@dataclass(frozen=True, slots=True)
class CollectionHealth:
    """Result of a check.

    problems: one line for each problem, with its remedy; empty if the collection is intact and can be opened.
    """

    info: CollectionInfo
    problems: tuple[str, ...]


def list_collections(store: Store, tenant: str | None = None) -> tuple[CollectionInfo, ...]:
    """Return all collections, sorted by name. A collection with an unreadable manifest is listed without its details.

    tenant: list only this tenant's collections ("" is the local user).
    """
    c = collections.c
    query = select(c.name, c.created_at, c.label, c.tenant).order_by(c.name)
    if tenant is not None:
        query = query.where(c.tenant == tenant)
    with store.read() as connection:
        rows = connection.execute(query).all()
        return tuple(
            replace(_info_or_name(connection, name, created_at), label=label, tenant=owner)
            for name, created_at, label, owner in rows
        )


def collection_info(store: Store, name: str) -> CollectionInfo:
    """Return the summary of one collection. Raises UnknownCollectionError if the name is unknown."""
    with store.read() as connection:
        created_at = connection.execute(select(collections.c.created_at).where(collections.c.name == name)).scalar()
        if created_at is None:
            raise unknown_collection(connection, name)
        return _info_or_name(connection, name, created_at)


def _info_or_name(connection: Connection, name: str, created_at: datetime) -> CollectionInfo:
    try:
        return _info(connection, name, created_at)
    except RetrievalError:  # one damaged collection must not hide the others; opening or checking it reports the error
        return CollectionInfo(name, created_at)


def open_retriever(store: Store, home: Path, name: str, encoder: Encoder, engines: Engines = LOCAL) -> Retriever:
    """Open the published generation of a collection. The retriever keeps answering from that generation.

    Verifies the hashes of all files and documents first. engines: addresses of the index engines. Raises RetrievalError
    if the collection does not exist (known names are listed), has no published index, was indexed with another encoder,
    or is damaged. Raises EngineError if the engine that holds its indexes does not answer or lacks them.
    """
    for attempt in range(1, _TRIES + 1):
        snapshot = _snapshot(store, name)
        manifest = _manifest(snapshot.published, name)
        if not serves(encoder, manifest.encoder):
            raise RetrievalError(
                f"the collection {name!r} was indexed with another encoder (fingerprint {manifest.encoder[:12]}, not "
                f"{encoder.fingerprint[:12]}); open it with that one, or index it again with this one"
            )
        try:
            generation = load_generation(home / snapshot.published.folder, manifest, engines)
        except RetrievalError:
            # A new generation may have been published, and this one's folder removed, between the two reads.
            if attempt < _TRIES and not _is_current(store, name, snapshot.published.folder):
                continue
            raise
        chunks = _chunks(generation.table, snapshot, name)
        metadata = {document.id: document.metadata for document in snapshot.documents.values()}
        return Retriever(
            generation, chunks, encoder, partial(_is_current, store, name, snapshot.published.folder), metadata
        )
    raise RetrievalError(f"the collection {name!r} was published {_TRIES} times while it was being opened; try again")


def check_published(store: Store, name: str) -> None:
    """Check that a collection exists and is published, without opening its files or an encoder.

    Raises RetrievalError if the collection does not exist (known names are listed) or has no published index.
    """
    with store.read() as connection:
        _published(connection, name)


def linked_versions(store: Store, name: str) -> dict[DocumentVersion, StoredVersion]:
    """Return the stored version (database row) of each document in the collection's published generation."""
    with store.read() as connection:
        rows = connection.execute(
            select(documents.c.id, documents.c.document_id, documents.c.sha256, func.length(documents.c.text))
            .join(generation_documents, generation_documents.c.document_row == documents.c.id)
            .join(collections, collections.c.current_generation_id == generation_documents.c.generation_id)
            .where(collections.c.name == name)
        ).all()
    return {
        DocumentVersion(document_id, sha256): StoredVersion(row, sha256, characters or 0)
        for row, document_id, sha256, characters in rows
    }


def _manifest(published: PublishedGeneration, name: str) -> Manifest:
    """Parse the row's manifest. Raises RetrievalError if it is invalid or belongs to another generation."""
    manifest = Manifest.from_json(published.manifest, f"the published index of {name!r}")
    if manifest.hash != published.hash:
        raise RetrievalError(
            f"the database row of {name!r} names the generation {published.hash[:12]}, but has the manifest of "
            f"{manifest.hash[:12]}; index the same sources again"
        )
    return manifest


def check_collection(store: Store, home: Path, name: str, engines: Engines = LOCAL) -> CollectionHealth:
    """Verify every hash and count of a collection. Raises RetrievalError only if the collection does not exist."""
    with store.read() as connection:
        created_at = connection.execute(select(collections.c.created_at).where(collections.c.name == name)).scalar()
        if created_at is None:
            raise unknown_collection(connection, name)
        info = _info_or_name(connection, name, created_at)
    try:
        snapshot = _snapshot(store, name)
        manifest = _manifest(snapshot.published, name)
        generation = load_generation(home / snapshot.published.folder, manifest, engines)
        _chunks(generation.table, snapshot, name)
    except RetrievalError as error:
        return CollectionHealth(info, (str(error),))
    return CollectionHealth(info, ())


def delete_collection(store: Store, home: Path, name: str, engines: Engines = LOCAL) -> None:
    """Delete a collection: first its indexes in an engine, then its rows in one transaction, then its folder.

    Raises RetrievalError if the collection does not exist or is being indexed. Raises EngineError if its engine does
    not answer; its rows and folder are then kept.
    """
    check_name(name)
    with collection_lock(store, home, name):
        with store.read() as connection:
            if collection_key(connection, name) is None:
                raise unknown_collection(connection, name)
        generations_ = generations_folder(home, name)
        for path in generations_.iterdir() if generations_.is_dir() else ():
            drop_indexes(path, engines)
        with store.write() as connection:
            key = collection_key(connection, name)
            if key is None:
                raise unknown_collection(connection, name)
            owned = select(generations.c.id).where(generations.c.collection_id == key)
            connection.execute(update(collections).where(collections.c.id == key).values(current_generation_id=None))
            connection.execute(delete(generation_documents).where(generation_documents.c.generation_id.in_(owned)))
            connection.execute(delete(generations).where(generations.c.collection_id == key))
            connection.execute(delete(documents).where(documents.c.collection_id == key))
            connection.execute(delete(collections).where(collections.c.id == key))
        prune_collection(store, home, None, ())
        folder = collection_folder(home, name)
        if folder.exists():
            shutil.rmtree(folder)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """A published generation with its documents by version, read in one transaction."""

    published: PublishedGeneration
    documents: dict[DocumentVersion, Document]


def _snapshot(store: Store, name: str) -> _Snapshot:
    with store.read() as connection:
        published = _published(connection, name)
        with readable_rows("documents"):
            rows = connection.execute(
                select(documents.c.sha256, *DOCUMENT_COLUMNS)
                .join(generation_documents, generation_documents.c.document_row == documents.c.id)
                .where(generation_documents.c.generation_id == published.key)
            ).mappings()
            by_version = {DocumentVersion(row["document_id"], row["sha256"]): stored_document(row) for row in rows}
    return _Snapshot(published, by_version)


def _published(connection: Connection, name: str) -> PublishedGeneration:
    published = current_generation(connection, name)
    if published is None:
        if collection_key(connection, name) is None:
            raise unknown_collection(connection, name)
        raise UnpublishedCollectionError(name)
    return published


def _chunks(table: ChunkTable, snapshot: _Snapshot, name: str) -> tuple[Chunk, ...]:
    """Return the chunk of every row.

    Raises RetrievalError if a document's text differs from the text that was indexed.
    """
    documents: list[Document] = []
    for version in table.versions:
        document = snapshot.documents.get(version)
        if document is None or document.sha256 != version.sha256:
            what = "missing from" if document is None else "damaged in"
            raise RetrievalError(
                f"document {version.document_id!r} of {name!r} is {what} the database; index the same sources again"
            )
        documents.append(document)
    chunks: list[Chunk] = []
    for index, start, end in table.rows.tolist():
        document = documents[index]
        chunks.append(Chunk(document.id, start, end, document.text[start:end], document.title))
    return tuple(chunks)


def _is_current(store: Store, name: str, folder: Path) -> bool:
    """Return whether the generation in this folder is published.

    Folders are compared, not hashes, because a generation keeps its hash when it moves to another engine.
    """
    with store.read() as connection:
        published = current_generation(connection, name)
    return published is not None and published.folder == folder


def _info(connection: Connection, name: str, created_at: datetime) -> CollectionInfo:
    published = current_generation(connection, name)
    if published is None:
        return CollectionInfo(name, created_at)
    manifest = Manifest.from_json(published.manifest, f"the published index of {name!r}")
    return CollectionInfo(
        name=name,
        created_at=created_at,
        documents=manifest.documents,
        chunks=manifest.chunks,
        generation_hash=manifest.hash,
        encoder=manifest.encoder,
        published_at=published.published_at,
        vectors=manifest.engine_name,
    )
