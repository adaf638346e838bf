"""Write index generations to disk and load them.

A generation is written to a temporary folder, verified, and moved to its own folder. Hashes are checked before it is
loaded. This module does not use the database, which records the published generation (publishing.py).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.atomic_write import naming_file
from data.private import FOLDER_MODE, make_private, make_private_folder
from retrieval.engines.engine import OpenIndexes
from retrieval.engines.engines import LOCAL, Engines
from retrieval.engines.local import VECTORS, open_local
from retrieval.engines.record import EngineRecord, read_record, write_record
from retrieval.errors import EngineError, MissingGenerationError, RetrievalError
from retrieval.generations.index_params import IndexParams
from retrieval.generations.manifest import (
    MANIFEST,
    DocumentVersion,
    Manifest,
    damaged_files,
    describe_file,
    generation_hash,
    read_manifest_copy,
)
from retrieval.sparse.lexical import LexicalIndex
from retrieval.vectors.faiss_index import VectorIndex
from retrieval.vectors.params import resolved_kind

_BUILDING = ".building-"
_CHUNKS = "chunks.npy"
_TEXTS = "texts.npy"
_DOCUMENTS = "documents.json"


@dataclass(frozen=True, slots=True)
class ChunkTable:
    """Table of the chunks of a generation.

    versions: document versions, sorted by document ID. rows: (N, 3) int64 in index order: index into ``versions``,
    start, end. texts: (N, 32) SHA-256 of the text embedded for each chunk.
    """

    versions: tuple[DocumentVersion, ...]
    rows: NDArray[np.int64]
    texts: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Generation:
    """A loaded generation. Position p of both indexes is row p of the table."""

    manifest: Manifest
    table: ChunkTable
    dense: VectorIndex
    lexical: LexicalIndex


@dataclass(frozen=True, slots=True)
class WrittenIndexes:
    """Description of a written vector index.

    dimension: length of a vector. kind: see Manifest.index. recall: see Manifest.recall.
    """

    dimension: int
    kind: str
    recall: Mapping[str, Any] | None


def write_generation(
    folder: Path,
    table: ChunkTable,
    params: IndexParams,
    encoder: str,
    write_indexes: Callable[[Path], WrittenIndexes],
    engines: Engines = LOCAL,
    engine: EngineRecord | None = None,
) -> Manifest:
    """Write a generation to ``folder/<Manifest.folder>`` atomically, replacing an earlier copy.

    folder: folder of the collection's generations. encoder: fingerprint of the encoder. write_indexes: writes both
    indexes of the table's chunks into the given folder, and no other files, or into the engine. engine: record of the
    engine, None for files. All files are flushed to the disk, read back and verified before they are moved.

    Raises RetrievalError if the parts are inconsistent or were not stored correctly, and OSError if the disk is full.
    In both cases the temporary folder and the engine's new build are removed, and nothing else was written.
    """
    hash_ = generation_hash(table.versions, table.rows, params, encoder)
    name = hash_ if engine is None else f"{hash_}-{engine.build_id}"
    with naming_file(folder / name), build_folder(folder, name, engines) as aside:
        if engine is not None:
            write_record(aside, engine)
        written = write_indexes(aside)
        np.save(aside / _CHUNKS, table.rows, allow_pickle=False)
        np.save(aside / _TEXTS, table.texts, allow_pickle=False)
        documents = [[version.document_id, version.sha256] for version in table.versions]
        (aside / _DOCUMENTS).write_text(json.dumps(documents, ensure_ascii=False), encoding="utf-8")
        manifest = Manifest(
            hash=hash_,
            params=params,
            encoder=encoder,
            dimension=written.dimension,
            documents=len(table.versions),
            chunks=len(table.rows),
            files=tuple(describe_file(path) for path in sorted(aside.iterdir())),
            index=written.kind,
            recall=written.recall,
            engine=engine,
        )
        move_generation(aside, folder, manifest, engines)
    return manifest


def move_generation(aside: Path, folder: Path, manifest: Manifest, engines: Engines = LOCAL) -> None:
    """Write the manifest into ``aside``, flush and verify all files, then move it to ``folder/<Manifest.folder>``."""
    (aside / MANIFEST).write_text(json.dumps(manifest.to_json(), indent=1, sort_keys=True), encoding="utf-8")
    make_private(aside)
    for path in (*aside.iterdir(), aside):
        _flush(path)
    load_generation(aside, manifest, engines)
    target = folder / manifest.folder
    if target.exists():
        # The target is damaged, or a job was killed before it published it. The verified folder replaces it.
        target.replace(folder / f"{_BUILDING}old-{manifest.folder}")
    aside.replace(target)
    _flush(folder)


def load_generation(folder: Path, manifest: Manifest, engines: Engines = LOCAL) -> Generation:
    """Load a generation after checking the size and SHA-256 of every file against the manifest.

    manifest: the database's manifest; the folder's copy must be equal, and its hash must match the folder's contents.
    engines: addresses of the engines, for indexes that are not files. Raises RetrievalError, naming the file and the
    remedy, if anything differs. Raises EngineError if the engine does not answer or lacks the generation.
    """
    check_folder(folder, manifest)
    table = load_table(folder)
    check_hash(folder, table, manifest)
    indexes = load_indexes(folder, manifest, engines)
    dense, lexical = indexes.dense, indexes.lexical
    counts = {len(table.rows), len(table.texts), dense.size, lexical.size, manifest.chunks}
    if len(counts) != 1 or len(table.versions) != manifest.documents or dense.dimension != manifest.dimension:
        raise RetrievalError(f"the files in {folder} are inconsistent ({counts} chunks); index the collection again")
    return Generation(manifest, table, dense, lexical)


def load_indexes(folder: Path, manifest: Manifest, engines: Engines = LOCAL) -> OpenIndexes:
    """Open both indexes from the folder's files, whose hashes must have been checked, or from the engine.

    Raises RetrievalError if an index cannot be opened.
    """
    if manifest.engine is not None:
        return engines.of(manifest.engine).open(manifest.engine.build_id, folder, manifest.index_facts())
    size = next((entry.bytes for entry in manifest.files if entry.name == VECTORS), 0)
    return open_local(folder, size, manifest.params.bm25)


def check_hash(folder: Path, table: ChunkTable, manifest: Manifest) -> None:
    """Raise RetrievalError if the manifest's hash, counts or index kind do not match its other parts."""
    declared = (manifest.documents, manifest.chunks, manifest.index)
    actual = (len(table.versions), len(table.rows), resolved_kind(manifest.params.dense, len(table.rows)))
    if declared != actual:
        raise RetrievalError(
            f"the manifest of {folder} was changed: it lists {declared} (documents, chunks, kind of index), but its "
            f"files have {actual}; index the same sources again"
        )
    found = generation_hash(table.versions, table.rows, manifest.params, manifest.encoder)
    if found != manifest.hash:
        raise RetrievalError(
            f"the manifest of {folder} was changed: its content has the hash {found[:12]}, not {manifest.hash[:12]}; "
            "index the same sources again"
        )


def check_folder(folder: Path, manifest: Manifest) -> None:
    """Raise RetrievalError, naming the files, if the folder does not match the manifest.

    Raises MissingGenerationError if the folder does not exist.
    """
    if not folder.is_dir():
        raise MissingGenerationError(str(folder))
    problems = damaged_files(folder, manifest)
    if not problems:
        try:
            copy = read_manifest_copy(folder)
        except (OSError, ValueError):
            copy = None
        if copy != json.loads(json.dumps(manifest.to_json())):
            problems = (f"{folder / MANIFEST} has changed since it was written",)
    if problems:
        raise RetrievalError(
            f"the index is damaged: {'; '.join(problems)}. Index the same sources again: "
            "it will rebuild the index from the stored vectors"
        )


def load_table(folder: Path) -> ChunkTable:
    """Load the chunk table from files whose hashes were checked. Raises RetrievalError if they are unreadable."""
    try:
        documents = json.loads((folder / _DOCUMENTS).read_text(encoding="utf-8"))
        rows = np.load(folder / _CHUNKS, allow_pickle=False)
        texts = np.load(folder / _TEXTS, allow_pickle=False)
        versions = tuple(DocumentVersion(str(d), str(s)) for d, s in documents)
    except (OSError, ValueError, TypeError, EOFError, MemoryError) as error:
        raise RetrievalError(
            f"the chunk table in {folder} cannot be read ({error}); index the collection again"
        ) from error
    if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype != np.int64:
        raise RetrievalError(f"{folder / _CHUNKS} is not a table of three columns; index the collection again")
    if texts.shape != (len(rows), 32) or texts.dtype != np.uint8:
        raise RetrievalError(f"{folder / _TEXTS} does not have a hash for each chunk; index the collection again")
    return ChunkTable(versions, rows, texts)


def load_texts(folder: Path, manifest: Manifest) -> NDArray[np.uint8]:
    """Load the (N, 32) hashes of the embedded texts. Checks only their file; raises RetrievalError if it is damaged."""
    entries = [entry for entry in manifest.files if entry.name == _TEXTS]
    try:
        intact = [describe_file(folder / entry.name, entry.bytes) == entry for entry in entries] == [True]
    except OSError:
        intact = False
    if not intact:
        raise RetrievalError(f"the index is damaged: {folder / _TEXTS} has changed since it was written")
    texts: NDArray[np.uint8] = np.load(folder / _TEXTS, allow_pickle=False)
    return texts


def remove_other_generations(folder: Path, keep: Collection[str], engines: Engines = LOCAL) -> None:
    """Remove all folders except ``keep``, such as earlier generations, and their indexes in engines.

    The caller must hold the collection's lock. A reader with an open file can continue to read it (POSIX semantics).
    If an engine does not answer, its folder is kept for the next call, because it names the indexes to remove.
    """
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.is_dir() and path.name not in keep:
            with suppress(EngineError):
                drop_indexes(path, engines)
                shutil.rmtree(path)


def drop_indexes(path: Path, engines: Engines = LOCAL) -> None:
    """Remove the indexes of a generation's folder from their engine, if it has one.

    Raises EngineError if the engine does not answer.
    """
    record = read_record(path)
    if record is not None:
        engines.of(record).drop(record.build_id)


@contextmanager
def build_folder(folder: Path, name: str, engines: Engines = LOCAL) -> Iterator[Path]:
    """Create and yield a hidden folder next to the generations.

    At the end, the folder and its indexes in an engine are removed, unless the folder was moved. If the engine does not
    answer, the folder is kept, and ``remove_other_generations`` tries again.
    """
    aside = folder / f"{_BUILDING}{name}"
    shutil.rmtree(aside, ignore_errors=True)
    shutil.rmtree(folder / f"{_BUILDING}old-{name}", ignore_errors=True)
    make_private_folder(folder)
    aside.mkdir(mode=FOLDER_MODE)
    try:
        yield aside
    finally:
        with suppress(EngineError):
            drop_indexes(aside, engines)
            shutil.rmtree(aside, ignore_errors=True)


def _flush(path: Path) -> None:
    """Flush the file or folder to the disk (fsync)."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
