"""Repair a damaged collection: restore its rows from its folder, or rebuild its folder from its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlalchemy import Connection, func, or_, select, update

from data.documents import Document
from data.schema import documents, generation_documents, generations
from data.store import Store
from retrieval.encoding.adapted import adapted
from retrieval.encoding.encoder import Encoder
from retrieval.engines.engines import LOCAL, Engines
from retrieval.errors import RetrievalError
from retrieval.generations.collection_folder import collection_lock, generations_folder
from retrieval.generations.document_versions import (
    StoredVersion,
    batches,
    collection_key,
    read_documents,
    readable_rows,
    unknown_collection,
)
from retrieval.generations.folder import ChunkTable, check_hash, load_generation, load_table
from retrieval.generations.manifest import MANIFEST, DocumentVersion, Manifest, describe_file, read_manifest_copy
from retrieval.generations.publishing import current_generation, publish_generation
from retrieval.indexing.index_target import IndexTarget
from retrieval.indexing.indexer import JobParams, ProgressListener, index_documents
from retrieval.indexing.vector_cache import write_vectors
from retrieval.upkeep.verifying import VerificationReport, verify_collection


@dataclass(frozen=True, slots=True)
class RepairReport:
    """Result of a repair. done: one line for each repair. after: result of a verification after the repair."""

    done: tuple[str, ...]
    after: VerificationReport


@dataclass(frozen=True, slots=True)
class _StoredDocument:
    """A document in the database, identified by the hash of its actual content."""

    row: int
    version: DocumentVersion
    characters: int


def repair_collection(
    store: Store,
    home: Path,
    name: str,
    encoder: Encoder,
    progress: ProgressListener | None = None,
    job: JobParams | None = None,
    engines: Engines = LOCAL,
) -> RepairReport:
    """Verify a collection and repair it with its own data.

    If the index folder and its engine are intact, the database rows and stored vectors are restored from them.
    Otherwise the index is rebuilt from the documents in the database, which gives the same generation hash. Raises
    RetrievalError, naming the documents, if their content is in neither; nothing is then changed.
    """
    before = verify_collection(store, home, name, engines=engines)
    if not before.problems:
        return RepairReport((), before)
    key, documents = _stored_documents(store, name)
    folder = None if any(one.in_engine for one in before.problems) else _intact_folder(store, home, name, engines)
    if folder is not None:
        done = _relink(store, home, name, key, documents, folder, engines)
    else:
        done = _rebuild(store, home, name, key, documents, encoder, progress, job, engines)
    return RepairReport(tuple(done), verify_collection(store, home, name, engines=engines))


def _stored_documents(store: Store, name: str) -> tuple[int, dict[DocumentVersion, _StoredDocument]]:
    """Return the collection's key, and its readable documents by ID and actual hash."""
    with store.read() as connection:
        key = collection_key(connection, name)
        if key is None:
            raise unknown_collection(connection, name)
        rows = connection.execute(
            select(documents.c.id, func.length(documents.c.text)).where(documents.c.collection_id == key)
        ).all()
    found: dict[DocumentVersion, _StoredDocument] = {}
    for row, characters in rows:
        try:
            (stored,) = read_documents(store, [StoredVersion(row, "", characters or 0)])
        except RetrievalError:
            continue
        version = DocumentVersion(stored.document.id, stored.document.sha256)
        found[version] = _StoredDocument(row, version, len(stored.document.text))
    return key, found


def _intact_folder(store: Store, home: Path, name: str, engines: Engines) -> Manifest | None:
    """Return the manifest of a generation whose folder matches its own copy of the manifest; None if there is none.

    The published generation is tried first, because an engine keeps the previous generation for open readers.
    """
    try:
        with store.read() as connection:
            published = current_generation(connection, name)
    except RetrievalError:
        published = None
    first = published.folder.name if published is not None else ""
    folders = generations_folder(home, name).glob("[!.]*")
    for folder in sorted(folders, key=lambda path: (path.name != first, -path.stat().st_mtime)):
        try:
            manifest = Manifest.from_json(read_manifest_copy(folder), str(folder / MANIFEST))
            if manifest.folder != folder.name:
                continue
            load_generation(folder, manifest, engines)
        except (RetrievalError, OSError, ValueError):
            continue
        return manifest
    return None


def _relink(
    store: Store,
    home: Path,
    name: str,
    key: int,
    documents: dict[DocumentVersion, _StoredDocument],
    manifest: Manifest,
    engines: Engines,
) -> list[str]:
    folder = generations_folder(home, name) / manifest.folder
    with collection_lock(store, home, name):
        generation = load_generation(folder, manifest, engines)
        rows = _all_stored(name, generation.table.versions, documents)
        with readable_rows("documents"), store.write() as connection:
            corrected = sum(_correct_row(connection, item) for item in rows)
        versions = [StoredVersion(item.row, item.version.sha256, item.characters) for item in rows]
        publish_generation(store, key, manifest, folder.relative_to(home), versions)
        done = [f"the rows of generation {manifest.hash[:12]} were restored from its folder"]
        if corrected:
            done.append(f"the hashes of {corrected} document rows were computed again")
        if "int8" not in manifest.index:
            for positions in batches(range(generation.dense.size), 1000):
                block_vectors = generation.dense.vectors(np.asarray(positions, dtype=np.int64))
                keys = [generation.table.texts[position].tobytes().hex() for position in positions]
                write_vectors(store, manifest.encoder, dict(zip(keys, block_vectors, strict=True)), key)
            done.append(f"{generation.dense.size} stored vectors were restored from the index")
    return done


def _correct_row(connection: Connection, item: _StoredDocument) -> bool:
    """Correct the ID and hash in a document's row, and return whether they were wrong."""
    wrong = (documents.c.id == item.row) & or_(
        documents.c.sha256 != item.version.sha256, documents.c.document_id != item.version.document_id
    )
    values = {"sha256": item.version.sha256, "document_id": item.version.document_id}
    return bool(connection.execute(update(documents).where(wrong).values(values)).rowcount)


def _rebuild(
    store: Store,
    home: Path,
    name: str,
    key: int,
    documents: dict[DocumentVersion, _StoredDocument],
    encoder: Encoder,
    progress: ProgressListener | None,
    job: JobParams | None,
    engines: Engines,
) -> list[str]:
    manifest, table = _readable_manifest(store, home, name, key)
    encoder = adapted(encoder, manifest.encoder)
    if manifest.encoder != encoder.fingerprint:
        raise RetrievalError(
            f"{name!r} was indexed with another encoder (fingerprint {manifest.encoder[:12]}, not "
            f"{encoder.fingerprint[:12]}); repair it with that one and its precision, or index it again with this one",
            parameter="encoder",
        )
    versions = table.versions if table is not None else _linked_versions(store, key)
    rows = _all_stored(name, versions, documents)
    if len(rows) != manifest.documents:
        raise RetrievalError(
            f"{name!r} was indexed with {manifest.documents} documents, but the database links {len(rows)}, and it is "
            "unknown which ones are missing; index the same sources again"
        )

    def source() -> Iterator[Document]:
        stored = read_documents(store, [StoredVersion(item.row, item.version.sha256, item.characters) for item in rows])
        for item in stored:
            yield item.document

    with readable_rows("documents"), store.write() as connection:
        for item in rows:
            _correct_row(connection, item)
    target = IndexTarget(
        manifest.engine_name,
        engines,
        rewrite=manifest.engine is not None,
        # The stored parameters may be damaged too. The rebuild then has another hash and is not published.
        expected_hash=manifest.hash,
    )
    report = index_documents(
        store, home, name, source(), encoder, params=manifest.params, job=job, target=target, progress=progress
    )
    return [
        f"the index was rebuilt from {report.documents} stored documents; {report.embedded} chunks were "
        f"embedded again: the same generation {report.generation_hash[:12]}"
    ]


def _readable_manifest(store: Store, home: Path, name: str, key: int) -> tuple[Manifest, ChunkTable | None]:
    """Return a readable manifest from the database or a folder, and the chunk table, None if that is damaged.

    A manifest with an intact chunk table is preferred. Raises RetrievalError if no manifest is readable.
    """
    candidates: list[Manifest] = []
    with store.read() as connection:
        hashes = connection.execute(
            select(generations.c.id).where(generations.c.collection_id == key).order_by(generations.c.status)
        ).scalars()
        for generation in hashes.all():
            try:
                value = connection.execute(
                    select(generations.c.manifest).where(
                        generations.c.id == generation, generations.c.status == "published"
                    )
                ).scalar()
                candidates += [Manifest.from_json(value, "the manifest in the database")] if value else []
            except (RetrievalError, ValueError, TypeError):
                continue
    for path in sorted(generations_folder(home, name).glob(f"[!.]*/{MANIFEST}")):
        try:
            candidates.append(Manifest.from_json(read_manifest_copy(path.parent), str(path)))
        except (RetrievalError, OSError, ValueError):
            continue
    for manifest in candidates:
        table = _intact_table(generations_folder(home, name) / manifest.folder, manifest)
        if table is not None:
            return manifest, table
    if not candidates:
        raise RetrievalError(
            f"the manifest of {name!r} is unreadable in the database and in its folder; run `plumbline index` again "
            "with the same sources"
        )
    return candidates[0], None


def _intact_table(folder: Path, manifest: Manifest) -> ChunkTable | None:
    try:
        for entry in manifest.files:
            if (
                entry.name in ("chunks.npy", "texts.npy", "documents.json")
                and describe_file(folder / entry.name, entry.bytes) != entry
            ):
                return None
        table = load_table(folder)
        check_hash(folder, table, manifest)
    except (RetrievalError, OSError):
        return None
    return table


def _linked_versions(store: Store, key: int) -> tuple[DocumentVersion, ...]:
    """Return the document versions that the database links to generations of the collection, sorted by ID."""
    with store.read() as connection:
        rows = connection.execute(
            select(documents.c.id, documents.c.document_id, documents.c.sha256)
            .join(generation_documents, generation_documents.c.document_row == documents.c.id)
            .join(generations, generations.c.id == generation_documents.c.generation_id)
            .where(generations.c.collection_id == key)
        ).all()
    return tuple(sorted({DocumentVersion(row.document_id, row.sha256) for row in rows}, key=lambda v: v.document_id))


def _all_stored(
    name: str, versions: Sequence[DocumentVersion], documents: dict[DocumentVersion, _StoredDocument]
) -> list[_StoredDocument]:
    """Return the stored document of each version. Raises RetrievalError, naming the documents, if some are missing."""
    missing = [version.document_id for version in versions if version not in documents]
    if missing:
        named = ", ".join([*map(repr, missing[:5]), *(["..."] if len(missing) > 5 else [])])
        raise RetrievalError(
            f"{len(missing)} documents of {name!r} are damaged or missing in the database and are not stored elsewhere "
            f"({named}): index the same sources again; nothing was changed"
        )
    return [documents[version] for version in versions]
