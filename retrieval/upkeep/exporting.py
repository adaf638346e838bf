"""Export a collection to a single file, a tar archive with a manifest and without pickles."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from data.atomic_write import naming_file
from data.store import Store
from retrieval.collections import linked_versions
from retrieval.engines.engines import LOCAL, Engines
from retrieval.errors import RetrievalError
from retrieval.generations.collection_folder import collection_lock, generations_folder
from retrieval.generations.document_versions import read_documents
from retrieval.generations.folder import load_generation
from retrieval.generations.manifest import DocumentVersion, FileEntry, Manifest, describe_file
from retrieval.generations.publishing import current_generation
from retrieval.saved_search import saved_search
from retrieval.upkeep.archive_layout import ARCHIVE_FORMAT, DOCUMENTS, HEADER, INDEX, SEARCH, ArchiveReport
from retrieval.upkeep.copying import copy_to_files
from retrieval.upkeep.verifying import verify_collection


def export_collection(store: Store, home: Path, name: str, file: Path, engines: Engines = LOCAL) -> ArchiveReport:
    """Export a collection to a new file, atomically.

    The collection is verified first. Indexes in an engine are written as local files, which any machine can import, and
    the generation hash does not change. Raises RetrievalError if the collection does not exist, is damaged or is being
    written, or if the file exists. Raises OSError if the disk is full.
    """
    if file.exists() or file.is_symlink():
        raise RetrievalError(f"{file} exists already and is not overwritten: name another file, or remove it")
    part = file.with_name(f".{file.name}.part")
    documents = file.with_name(f".{file.name}.documents")
    with collection_lock(store, home, name), _removed_at_end(part), _removed_at_end(documents), ExitStack() as stack:
        verified = verify_collection(store, home, name, engines=engines)
        if verified.problems:
            raise RetrievalError(
                f"{name!r} is damaged and was not exported ({verified.problems[0]}); run `plumbline "
                f"collections repair {name}`"
            )
        with store.read() as connection:
            published = current_generation(connection, name)
        if published is None:
            raise RetrievalError(f"{name!r} was changed while it was being written; try again")
        manifest = Manifest.from_json(published.manifest, f"the published index of {name!r}")
        folder = generations_folder(home, name) / manifest.folder
        generation = load_generation(folder, manifest, engines)
        if manifest.engine is not None:
            files_folder = Path(stack.enter_context(TemporaryDirectory(dir=file.parent, prefix=f".{file.name}.")))
            manifest = copy_to_files(generation, files_folder)
            folder = files_folder / manifest.folder
        with naming_file(file), documents.open("wb") as written:
            for line in _document_lines(store, name, generation.table.versions):
                written.write(line)
        entry = describe_file(documents)
        header = {
            "format": ARCHIVE_FORMAT,
            "name": name,
            "manifest": manifest.to_json(),
            "documents": asdict(FileEntry(DOCUMENTS, entry.bytes, entry.sha256)),
        }
        saved = saved_search(home, name)
        if saved is not None:
            header[SEARCH] = saved.to_json()
        with naming_file(file), part.open("wb") as raw:
            with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
                content = json.dumps(header, indent=1, sort_keys=True).encode()
                _add(tar, HEADER, len(content), BytesIO(content))
                with documents.open("rb") as lines:
                    _add(tar, DOCUMENTS, entry.bytes, lines)
                for listed in manifest.files:
                    with (folder / listed.name).open("rb") as stream:
                        _add(tar, INDEX + listed.name, listed.bytes, stream)
            raw.flush()
            os.fsync(raw.fileno())
        size = part.stat().st_size
        part.replace(file)
    return ArchiveReport(name, manifest.hash, manifest.documents, manifest.chunks, size)


@contextmanager
def _removed_at_end(path: Path) -> Iterator[None]:
    """Remove a file at the end of the block, if it exists."""
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _document_lines(store: Store, name: str, versions: tuple[DocumentVersion, ...]) -> Iterator[bytes]:
    rows = linked_versions(store, name)
    for item in read_documents(store, [rows[version] for version in versions]):
        document = item.document
        value = {
            "id": document.id,
            "title": document.title,
            "text": document.text,
            "metadata": dict(document.metadata),
            "outline": document.outline.to_json(),
            "sha256": document.sha256,
        }
        yield json.dumps(value, ensure_ascii=False).encode() + b"\n"


def _add(tar: tarfile.TarFile, name: str, size: int, content: IO[bytes]) -> None:
    """Add a member without owner and time, so that equal collections give equal files."""
    member = tarfile.TarInfo(name)
    member.size = size
    tar.addfile(member, content)
