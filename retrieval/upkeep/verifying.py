"""Verify every hash, count, offset, vector, word weight and database row of a collection."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sqlalchemy import func, select

from data.schema import documents, generation_documents
from data.store import Store
from retrieval.engines.engine import OpenIndexes
from retrieval.engines.engines import LOCAL, Engines
from retrieval.engines.record import ENGINE_NAMES
from retrieval.errors import EngineUnavailableError, RetrievalError
from retrieval.generations.collection_folder import generations_folder
from retrieval.generations.document_versions import (
    StoredVersion,
    batches,
    collection_key,
    read_documents,
    readable_rows,
    unknown_collection,
)
from retrieval.generations.folder import ChunkTable, check_folder, check_hash, load_indexes, load_table
from retrieval.generations.manifest import DocumentVersion, Manifest, damaged_files
from retrieval.generations.publishing import PublishedGeneration, current_generation
from retrieval.indexing.chunking_stage import searchable_texts, text_hash
from retrieval.upkeep.index_checks import vector_problems, word_problems

_MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem found by a verification. what: the damaged part of the collection. reason: what is wrong with it."""

    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"

    @property
    def in_engine(self) -> bool:
        """Whether the problem is in an engine, whose content is not covered by the hashes of files."""
        return self.what.partition(":")[0] in ENGINE_NAMES


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """Result of a verification.

    generation_hash: hash of the published generation, None if there is none. documents, chunks, vectors, files: numbers
    of items that were checked. problems: empty if the collection is intact.
    """

    collection: str
    generation_hash: str | None
    documents: int
    chunks: int
    vectors: int
    files: int
    problems: tuple[Problem, ...]


@dataclass(slots=True)
class _Check:
    """A verification in progress, with the findings so far."""

    store: Store
    home: Path
    name: str
    progress: Callable[[str, int, int], None]
    problems: list[Problem] = field(default_factory=list)
    documents: int = 0
    chunks: int = 0
    vectors: int = 0
    files: int = 0

    def add_problem(self, what: str, reason: str) -> None:
        self.problems.append(Problem(what, reason))


def verify_collection(
    store: Store,
    home: Path,
    name: str,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    engines: Engines = LOCAL,
) -> VerificationReport:
    """Verify the consistency of a collection.

    The checks cover the rows of the collection, its generation and its documents; the size and SHA-256 of every file;
    both copies of the manifest and the generation hash; the hash of every document; the offsets of every chunk and the
    hash of its text; the length of every vector and its equality to the vector in the database; and the word index,
    which is rebuilt and compared. Indexes in an engine are read from the engine. progress: called with (phase, done,
    total).

    Raises EngineUnavailableError if that engine does not answer. Raises RetrievalError if the collection does not
    exist, or if SQLite reports a damaged database file, which cannot be repaired row by row.
    """
    with store.read() as connection:
        if collection_key(connection, name) is None:
            raise unknown_collection(connection, name)
        if connection.dialect.name == "sqlite":
            progress("database", 0, 1)
            result = str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar())
            if result != "ok":
                raise RetrievalError(
                    f"the database file is damaged ({' '.join(result.split())[:200]}): restore a backup, or move the "
                    "database away and index again"
                )
            progress("database", 1, 1)
    check = _Check(store, home, name, progress)
    published = _check_published(check)
    manifest = _check_manifest(check, published) if published else None
    table = _check_files(check, manifest) if manifest else None
    if manifest is not None and table is not None and published is not None:
        rows = _check_rows(check, published, table)
        intact = _check_documents(check, table, rows)
        folder = generations_folder(home, name) / manifest.folder
        indexes = _open_indexes(check, folder, manifest, engines)
        if indexes is not None:
            vectors = "vectors.faiss" if manifest.engine is None else f"{manifest.engine.name}: vectors"
            for reason in vector_problems(store, indexes.dense, manifest, table, progress):
                check.add_problem(vectors, reason)
            check.vectors = len(table.rows)
        if indexes is not None and intact:
            with tempfile.TemporaryDirectory(prefix="plumbline-verify-") as temporary:
                words_name = "BM25" if manifest.engine is None else f"{manifest.engine.name}: BM25"
                for reason in word_problems(store, folder, indexes, manifest, table, rows, Path(temporary), progress):
                    check.add_problem(words_name, reason)
    return VerificationReport(
        collection=name,
        generation_hash=published.hash if published else None,
        documents=check.documents,
        chunks=check.chunks,
        vectors=check.vectors,
        files=check.files,
        problems=tuple(check.problems),
    )


def _check_published(check: _Check) -> PublishedGeneration | None:
    try:
        with check.store.read() as connection:
            published = current_generation(connection, check.name)
    except RetrievalError as error:
        check.add_problem("database row of the generation", str(error))
        return None
    if published is None:
        check.add_problem(
            "database row of the collection", "it does not refer to a published generation of this collection"
        )
    return published


def _check_manifest(check: _Check, published: PublishedGeneration) -> Manifest | None:
    try:
        manifest = Manifest.from_json(published.manifest, f"the published index of {check.name!r}")
    except RetrievalError as error:
        check.add_problem("manifest in the database", str(error))
        return None
    if manifest.hash != published.hash:
        check.add_problem(
            "manifest in the database",
            f"it belongs to the generation {manifest.hash[:12]}, but its row to {published.hash[:12]}",
        )
        return None
    expected = generations_folder(check.home, check.name) / manifest.folder
    if check.home / published.folder != expected:
        check.add_problem("database row of the generation", f"it names the folder {published.folder}, not {expected}")
    return manifest


def _check_files(check: _Check, manifest: Manifest) -> ChunkTable | None:
    folder = generations_folder(check.home, check.name) / manifest.folder
    check.files = len(manifest.files)
    problems = damaged_files(folder, manifest)
    for problem in problems:
        check.add_problem("file", problem)
    if problems:
        return None
    try:
        check_folder(folder, manifest)
        table = load_table(folder)
        check_hash(folder, table, manifest)
    except RetrievalError as error:
        check.add_problem("manifest", str(error))
        return None
    return table


def _open_indexes(check: _Check, folder: Path, manifest: Manifest, engines: Engines) -> OpenIndexes | None:
    try:
        return load_indexes(folder, manifest, engines)
    except EngineUnavailableError:
        raise
    except RetrievalError as error:
        check.add_problem("index" if manifest.engine is None else f"{manifest.engine.name}: index", str(error))
        return None


def _check_rows(
    check: _Check, published: PublishedGeneration, table: ChunkTable
) -> dict[DocumentVersion, StoredVersion]:
    """Return the stored versions linked to the generation. Missing and unexpected ones are recorded as problems."""
    columns = (documents.c.id, documents.c.document_id, documents.c.sha256, func.length(documents.c.text))
    with check.store.read() as connection:
        found = connection.execute(
            select(*columns)
            .join(generation_documents, generation_documents.c.document_row == documents.c.id)
            .where(generation_documents.c.generation_id == published.key)
        ).all()
    rows = {
        DocumentVersion(document_id, sha256): StoredVersion(key, sha256, characters or 0)
        for key, document_id, sha256, characters in found
    }
    indexed = set(table.versions)
    for reason, versions in (
        ("the indexed version is missing", indexed - rows.keys()),
        ("a version that was not indexed is linked", rows.keys() - indexed),
    ):
        ids = sorted(version.document_id for version in versions)
        for document_id in ids[:_MAX_NAMED]:
            check.add_problem("database", f"document {document_id!r}: {reason}")
        if len(ids) > _MAX_NAMED:
            check.add_problem("database", f"{len(ids) - _MAX_NAMED} more documents: {reason}")
    return rows


def _check_documents(check: _Check, table: ChunkTable, rows: dict[DocumentVersion, StoredVersion]) -> bool:
    """Check every document and its chunks, and return whether all are intact."""
    before = len(check.problems)
    starts = _chunk_starts(table)
    total = len(table.versions)
    for group in batches(range(total), 100):
        present = [index for index in group if table.versions[index] in rows]
        for index in present:
            first, last = starts[index], starts[index + 1]
            _check_document(check, table, index, range(first, last), rows[table.versions[index]])
        check.progress("documents", group[-1] + 1, total)
    return len(check.problems) == before and all(version in rows for version in table.versions)


def _check_document(check: _Check, table: ChunkTable, index: int, chunks: range, row: StoredVersion) -> None:
    version = table.versions[index]
    try:
        with readable_rows("documents"):
            (stored,) = read_documents(check.store, [row])
    except RetrievalError as error:
        check.add_problem("database", f"document {version.document_id!r}: {error}")
        return
    document = stored.document
    check.documents += 1
    if document.sha256 != version.sha256:
        check.add_problem(
            "database", f"the content of document {version.document_id!r} has changed since it was indexed"
        )
        return
    spans = table.rows[chunks.start : chunks.stop, 1:]
    if ((spans[:, 0] < 0) | (spans[:, 0] >= spans[:, 1]) | (spans[:, 1] > len(document.text))).any():
        check.add_problem(
            "chunks.npy", f"a chunk of {version.document_id!r} is outside its text of {len(document.text)} characters"
        )
        return
    for chunk, text in zip(chunks, searchable_texts(document, spans), strict=True):
        if text_hash(text) != table.texts[chunk].tobytes():
            start, end = spans[chunk - chunks.start].tolist()
            check.add_problem(
                "texts.npy",
                f"characters [{start}, {end}) of {version.document_id!r} differ from the text that was embedded",
            )
            return
        check.chunks += 1


def _chunk_starts(table: ChunkTable) -> list[int]:
    found: list[int] = np.searchsorted(table.rows[:, 0], np.arange(len(table.versions) + 1)).tolist()
    return found
