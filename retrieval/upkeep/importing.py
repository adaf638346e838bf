"""Import a collection from an export file. The file is untrusted, so all of it is checked before use."""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from data.atomic_write import naming_file
from data.documents import Document
from data.outline import Outline
from data.store import Store
from retrieval.collections import delete_collection
from retrieval.errors import RetrievalError
from retrieval.generations.collection_folder import check_name, collection_lock, generations_folder
from retrieval.generations.document_versions import (
    StoredVersion,
    batches,
    collection_key,
    create_collection,
    store_documents,
)
from retrieval.generations.folder import build_folder, load_generation, move_generation
from retrieval.generations.manifest import DocumentVersion, FileEntry, Manifest
from retrieval.generations.publishing import current_generation, publish_generation
from retrieval.indexing.vector_cache import write_vectors
from retrieval.saved_search import SavedSearch, save_search
from retrieval.upkeep.archive_layout import ARCHIVE_FORMAT, DOCUMENTS, HEADER, INDEX, SEARCH, ArchiveReport
from retrieval.upkeep.verifying import verify_collection

_HEADER_LIMIT = 16 << 20
_BLOCK = 1 << 20


def import_collection(store: Store, home: Path, file: Path, name: str | None = None) -> ArchiveReport:
    """Import a file that ``export_collection`` wrote.

    Names, types, sizes and hashes of the members must match the header, and every document must match its hash. The
    imported collection is then verified, and removed if that fails. name: name of the new collection, None for the
    exported name. Raises RetrievalError, naming the member, if a check fails or the name is taken. Raises OSError if
    the file is unreadable or the disk is full.
    """
    try:
        with tarfile.open(file, mode="r|") as tar:
            collection, manifest = _import_members(store, home, file, tar, name)
    except (tarfile.TarError, EOFError) as error:
        raise RetrievalError(f"{file} is not a complete export of a collection ({error})") from error
    verified = verify_collection(store, home, collection)
    if verified.problems:
        delete_collection(store, home, collection)
        raise RetrievalError(f"{file} was not imported: {'; '.join(map(str, verified.problems[:5]))}")
    return ArchiveReport(collection, manifest.hash, manifest.documents, manifest.chunks, file.stat().st_size)


def _import_members(
    store: Store, home: Path, file: Path, tar: tarfile.TarFile, name: str | None
) -> tuple[str, Manifest]:
    """Read, check and publish the archive, and return the collection's name. A failure removes stored rows."""
    members = iter(tar)
    header = _read_header(file, tar, next(members, None))
    manifest = Manifest.from_json(header.get("manifest"), str(file))
    if manifest.engine is not None:  # an export holds files, and an untrusted address must not be connected to
        raise RetrievalError(f"{file} was not imported: its manifest names the engine {manifest.engine.name!r}")
    collection = name if name is not None else header.get("name")
    if not isinstance(collection, str):
        raise RetrievalError(f"{file} does not contain the name of its collection: give a name", parameter="name")
    saved = _saved_search(header, file)
    folder = generations_folder(home, check_name(collection))
    stored = False
    try:
        with collection_lock(store, home, collection):
            _check_name_unused(store, collection)
            with (
                build_folder(folder, manifest.hash) as aside,
                build_folder(folder, f"documents-{manifest.hash}") as documents_folder,
            ):
                _unpack(file, tar, members, _targets(header, manifest, aside, documents_folder))
                move_generation(aside, folder, manifest)
                stored = True
                _publish(store, home, collection, manifest, documents_folder / DOCUMENTS, saved)
    except BaseException:
        if stored:
            _remove_unpublished(store, home, collection)
        raise
    return collection, manifest


def _read_header(file: Path, tar: tarfile.TarFile, member: tarfile.TarInfo | None) -> dict[str, Any]:
    if member is None or member.name != HEADER or not _is_plain_file(member) or member.size > _HEADER_LIMIT:
        raise RetrievalError(f"{file} is not an export of a collection: it does not begin with {HEADER}")
    stream = tar.extractfile(member)
    try:
        value = json.loads(stream.read() if stream is not None else b"")
        if value["format"] != ARCHIVE_FORMAT:
            raise RetrievalError(
                f"{file} has the format {value['format']}, this version reads {ARCHIVE_FORMAT}: export it again with "
                "the same version of Plumbline"
            )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RetrievalError(f"the header of {file} cannot be read ({error})") from error
    return dict(value)


def _saved_search(header: dict[str, Any], file: Path) -> SavedSearch | None:
    try:
        return SavedSearch.from_json(header[SEARCH]) if SEARCH in header else None
    except (ValueError, KeyError, TypeError) as error:
        raise RetrievalError(f"the header of {file} has invalid search parameters ({error!r})") from error


def _is_plain_file(member: tarfile.TarInfo) -> bool:
    """Return whether the member is a plain file, not a link, device, folder or sparse file."""
    return member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and not member.issparse()


def _targets(
    header: dict[str, Any], manifest: Manifest, aside: Path, documents_folder: Path
) -> dict[str, tuple[FileEntry, Path]]:
    """Return the expected members and their target paths. Names from the archive are never joined to a folder."""
    try:
        listed = header["documents"]
        documents = FileEntry(DOCUMENTS, int(listed["bytes"]), str(listed["sha256"]))
    except (KeyError, TypeError, ValueError) as error:
        raise RetrievalError(f"the header does not list {DOCUMENTS} ({error!r})") from error
    targets = {INDEX + entry.name: (entry, aside / entry.name) for entry in manifest.files}
    return {DOCUMENTS: (documents, documents_folder / DOCUMENTS), **targets}


def _unpack(
    file: Path, tar: tarfile.TarFile, members: Iterator[tarfile.TarInfo], targets: dict[str, tuple[FileEntry, Path]]
) -> None:
    remaining = dict(targets)
    for member in members:
        if member.name not in remaining:
            why = "occurs twice" if member.name in targets else "is not listed in its header"
            raise RetrievalError(f"{file} was not imported: the member {member.name[:200]!r} {why}")
        entry, path = remaining.pop(member.name)
        if not _is_plain_file(member) or member.size != entry.bytes:
            raise RetrievalError(
                f"{file} was not imported: the member {member.name!r} is not a plain file of {entry.bytes} bytes"
            )
        stream = tar.extractfile(member)
        digest = hashlib.sha256()
        with naming_file(path), path.open("wb") as target:
            while stream is not None and (block := stream.read(_BLOCK)):
                digest.update(block)
                target.write(block)
        if digest.hexdigest() != entry.sha256:
            raise RetrievalError(
                f"{file} was not imported: the member {member.name!r} has changed since it was written"
            )
    if remaining:
        raise RetrievalError(f"{file} was not imported: it lacks {', '.join(sorted(remaining))}")


def _check_name_unused(store: Store, name: str) -> None:
    with store.read() as connection:
        taken = collection_key(connection, name) is not None
    if taken:
        raise RetrievalError(
            f"there is a collection {name!r} already: import the file under another name, or delete that one first",
            parameter="name",
        )


def _remove_unpublished(store: Store, home: Path, name: str) -> None:
    """Remove the collection that a failed import has stored but not published."""
    with store.read() as connection:
        unpublished = collection_key(connection, name) is not None and current_generation(connection, name) is None
    if unpublished:
        delete_collection(store, home, name)


def _publish(store: Store, home: Path, name: str, manifest: Manifest, lines: Path, saved: SavedSearch | None) -> None:
    folder = generations_folder(home, name) / manifest.hash
    generation = load_generation(folder, manifest)
    key = create_collection(store, name)
    rows: dict[DocumentVersion, StoredVersion] = {}
    waiting: list[Document] = []

    def store_waiting() -> None:
        stored = store_documents(store, key, waiting)
        rows.update({DocumentVersion(document_id, row.sha256): row for document_id, row in stored.items()})
        waiting.clear()

    with lines.open(encoding="utf-8") as text:
        for number, line in enumerate(text, start=1):
            waiting.append(_parse_document(line, number))
            if len(waiting) >= 200 or sum(len(document.text) for document in waiting) > 2_000_000:
                store_waiting()
    if waiting:
        store_waiting()
    if set(rows) != set(generation.table.versions):
        raise RetrievalError(f"{DOCUMENTS} does not contain the documents that the index lists; nothing was imported")
    if saved is not None:
        save_search(home, name, saved)
    publish_generation(
        store, key, manifest, folder.relative_to(home), [rows[version] for version in generation.table.versions]
    )
    if "int8" not in manifest.index:  # quantised vectors differ from the encoder's, which are recomputed when needed
        for positions in batches(range(generation.dense.size), 1000):
            block_vectors = generation.dense.vectors(np.asarray(positions, dtype=np.int64))
            keys = [generation.table.texts[position].tobytes().hex() for position in positions]
            write_vectors(store, manifest.encoder, dict(zip(keys, block_vectors, strict=True)), key)


def _parse_document(line: str, number: int) -> Document:
    try:
        value = json.loads(line)
        document = Document(
            id=str(value["id"]),
            title=str(value["title"]),
            text=str(value["text"]),
            metadata=tuple(sorted((str(k), str(v)) for k, v in value["metadata"].items())),
            outline=Outline.from_json(value["outline"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RetrievalError(f"line {number} of {DOCUMENTS} is not a document ({error})") from error
    if document.sha256 != value["sha256"]:
        raise RetrievalError(
            f"line {number} of {DOCUMENTS}: document {document.id!r} has changed since it was exported"
        )
    return document
