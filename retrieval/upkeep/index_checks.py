"""Check the vectors and words of a generation whose files match their hashes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from sqlalchemy import select

from data.schema import vectors
from data.store import Store
from retrieval.engines.engine import OpenIndexes
from retrieval.errors import EngineUnavailableError, RetrievalError
from retrieval.generations.document_versions import StoredVersion, batches, read_documents
from retrieval.generations.folder import ChunkTable
from retrieval.generations.manifest import DocumentVersion, Manifest
from retrieval.indexing.chunking_stage import searchable_texts
from retrieval.indexing.vector_cache import read_vectors
from retrieval.sparse.bm25 import Bm25Builder
from retrieval.sparse.tokenising import tokenise_all
from retrieval.vectors.faiss_index import VectorIndex

Progress = Callable[[str, int, int], None]

_BLOCK = 5000
_FULL_PRECISION_TOLERANCE, _QUANTISED_TOLERANCE = 1e-3, 0.05  # largest deviation of a stored vector's length from 1


def vector_problems(
    store: Store, dense: VectorIndex, manifest: Manifest, table: ChunkTable, progress: Progress
) -> Iterator[str]:
    """Yield the problems of a vector index, each as a message.

    Every vector must be finite, of length 1, and equal to the vector in the database for its text, if there is one.
    progress: called with ("vectors", done, total).
    """
    if (dense.size, dense.dimension) != (manifest.chunks, manifest.dimension) or dense.size != len(table.texts):
        yield (
            f"it has {dense.size} vectors of {dense.dimension} dimensions, not {manifest.chunks} of "
            f"{manifest.dimension} dimensions"
        )
        return
    full_precision = "int8" not in manifest.index
    tolerance = _FULL_PRECISION_TOLERANCE if full_precision else _QUANTISED_TOLERANCE
    damaged = 0
    for positions in batches(range(dense.size), _BLOCK):
        try:
            block_vectors = dense.vectors(np.asarray(positions, dtype=np.int64))
        except EngineUnavailableError:
            raise
        except RetrievalError as error:  # rows are missing in the engine
            yield str(error)
            return
        norms = np.sqrt(np.square(block_vectors, dtype=np.float64).sum(axis=1))
        bad = np.flatnonzero(~(np.abs(norms - 1.0) < tolerance))
        if bad.size:
            yield f"{bad.size} vectors are not of length 1; the first is the vector of chunk {positions[int(bad[0])]}"
        keys = [table.texts[position].tobytes().hex() for position in positions]
        found = read_vectors(store, manifest.encoder, sorted(set(keys)), dense.dimension)
        with store.read() as connection:
            stored_keys: set[str] = set()
            for part in batches(sorted(set(keys)), 500):
                query = select(vectors.c.text_sha256).where(
                    vectors.c.encoder == manifest.encoder, vectors.c.text_sha256.in_(part)
                )
                stored_keys.update(connection.execute(query).scalars())
        damaged += len(stored_keys - found.keys())
        for row, key in enumerate(keys):
            vector = found.get(key)
            if vector is not None and float(np.dot(vector, block_vectors[row])) < 1.0 - 2 * tolerance:
                yield f"the vector of chunk {positions[row]} differs from the vector stored for its text"
                break
        progress("vectors", positions[-1] + 1, dense.size)
    if damaged:
        yield f"{damaged} stored vectors in the database are damaged; the index itself does not need them"


def word_problems(
    store: Store,
    folder: Path,
    indexes: OpenIndexes,
    manifest: Manifest,
    table: ChunkTable,
    rows: Mapping[DocumentVersion, StoredVersion],
    aside: Path,
    progress: Progress,
) -> Iterator[str]:
    """Yield the differences between the word index and one rebuilt from the documents, each as a message.

    rows: stored version of each document. aside: an empty folder for the rebuilt index. progress: called with ("words",
    done, total). Numbers may differ in their last bits, because logarithms differ between machines.
    """
    builder = Bm25Builder(manifest.params.bm25)
    starts = np.searchsorted(table.rows[:, 0], np.arange(len(table.versions) + 1))
    total = len(table.versions)
    for group in batches(range(total), 100):
        stored = read_documents(store, [rows[table.versions[index]] for index in group])
        for index, item in zip(group, stored, strict=True):
            spans = table.rows[starts[index] : starts[index + 1], 1:]
            for tokens in tokenise_all(searchable_texts(item.document, spans), manifest.params.tokenising):
                builder.add(tokens)
        progress("words", group[-1] + 1, total)
    rebuilt, exported = aside / "rebuilt", aside / "exported"
    rebuilt.mkdir()
    exported.mkdir()
    builder.build().save(rebuilt)
    stored_folder = folder
    if manifest.engine is not None:
        try:
            indexes.lexical.save(exported)
        except EngineUnavailableError:
            raise
        except RetrievalError as error:
            yield str(error)
            return
        stored_folder = exported
    for path in sorted(rebuilt.iterdir()):
        reason = _difference(stored_folder / path.name, path)
        if reason:
            yield f"{path.name} {reason}"


def _difference(stored: Path, rebuilt: Path) -> str:
    """Return how a file differs from the rebuilt one, "" if it does not."""
    try:
        if rebuilt.suffix != ".npy":
            same = json.loads(stored.read_text(encoding="utf-8")) == json.loads(rebuilt.read_text(encoding="utf-8"))
            return "" if same else "does not match the words of the documents"
        one, two = (np.load(path, mmap_mode="r", allow_pickle=False) for path in (stored, rebuilt))
    except (OSError, ValueError) as error:
        return f"cannot be read ({error})"
    if one.shape != two.shape or one.dtype != two.dtype:
        return f"has {one.dtype} of the shape {one.shape}, but the documents give {two.dtype} of the shape {two.shape}"
    for part in batches(range(len(one)), 1_000_000):
        block = slice(part[0], part[-1] + 1)
        close = np.isclose(one[block], two[block], rtol=1e-5, atol=1e-7)
        if not close.all():
            index = part[0] + int(np.flatnonzero(~close)[0])
            return f"has {one[index]} at index {index}, but the documents give {two[index]}"
    return ""
