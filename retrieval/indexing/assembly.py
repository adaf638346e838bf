"""Assemble the two indexes of a generation from chunks and stored vectors, with bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from data.store import Store
from model.hardware.freed_memory import return_freed_memory
from retrieval.encoding.encoder import Encoder
from retrieval.engines.engine import IndexWriter
from retrieval.engines.engines import EngineTarget
from retrieval.engines.local import LocalWriter
from retrieval.errors import RetrievalError
from retrieval.generations.document_versions import batches, read_documents
from retrieval.generations.folder import ChunkTable, WrittenIndexes
from retrieval.generations.index_params import IndexParams
from retrieval.generations.manifest import DocumentVersion
from retrieval.indexing.chunking_stage import ChunkedDocument, searchable_texts
from retrieval.indexing.embedding import Embedder, MissingVector
from retrieval.indexing.vector_cache import read_vectors
from retrieval.indexing.vector_file import VectorFile
from retrieval.sparse.bm25 import Bm25Builder, LexicalIndex
from retrieval.sparse.tokenising import tokenise_all

_CHUNKS_PER_BLOCK = 5000
_DOCUMENTS_PER_READ = 100


def chunk_rows(documents: Sequence[ChunkedDocument]) -> NDArray[np.int64]:
    """Return ``ChunkTable.rows`` of these documents, which must be sorted by ID."""
    rows = [
        np.column_stack([np.full(len(item.spans), index, dtype=np.int64), item.spans])
        for index, item in enumerate(documents)
    ]
    return np.ascontiguousarray(np.concatenate(rows))


@dataclass(frozen=True, slots=True)
class IndexAssembly:
    """A writer of the indexes of a generation.

    documents: chunked documents, sorted by ID, with vectors in the database. make_embedder: creates the embedder of
    vectors that are missing. words, vectors: called with the progress of each index as (done, total), in documents and
    in chunks. target: engine and record of the new generation; None for files in its folder.
    """

    store: Store
    encoder: Encoder
    params: IndexParams
    documents: Sequence[ChunkedDocument]
    make_embedder: Callable[[], Embedder]
    words: Callable[[int, int], None]
    vectors: Callable[[int, int], None]
    target: EngineTarget | None = None

    def table(self) -> ChunkTable:
        """Return the table of all chunks."""
        return ChunkTable(
            versions=tuple(DocumentVersion(item.document_id, item.version.sha256) for item in self.documents),
            rows=chunk_rows(self.documents),
            texts=np.ascontiguousarray(np.concatenate([item.hashes for item in self.documents])),
        )

    def write(self, folder: Path) -> WrittenIndexes:
        """Write both indexes, one after the other, so that only one is in memory."""
        return_freed_memory()  # memory of the encoder's batches
        lexical = self._build_word_index()
        with nullcontext(LocalWriter(folder)) if self.target is None else self.target.writer(folder) as writer:
            writer.write_words(lexical)
            del lexical
            return_freed_memory()
            return self._write_vectors(folder, writer)

    def _build_word_index(self) -> LexicalIndex:
        builder = Bm25Builder(self.params.bm25)
        total = len(self.documents)
        done = 0
        for group in batches(self.documents, _DOCUMENTS_PER_READ):
            stored = read_documents(self.store, [item.version for item in group])
            for item, chunked in zip(stored, group, strict=True):
                for tokens in tokenise_all(searchable_texts(item.document, chunked.spans), self.params.tokenising):
                    builder.add(tokens)
            done += len(group)
            self.words(done, total)
        return builder.build()

    def _write_vectors(self, folder: Path, writer: IndexWriter) -> WrittenIndexes:
        count = sum(len(item.spans) for item in self.documents)
        with VectorFile(folder / "vectors.tmp", count, self.encoder.dimension) as file:
            missing = self._copy_vectors(file)
            if missing:
                # The job of another collection may have removed vectors since they were found.
                with self.make_embedder() as embedder:
                    embedder.embed(self.documents, missing)
                if self._copy_vectors(file):
                    raise RetrievalError(
                        f"{len(missing)} stored vectors cannot be read; check the disk, and run the same command again"
                    )
            # Writers use only the parts of an array that VectorFile has: len(), shape, slices and positions.
            vectors = cast(NDArray[np.float32], file)
            built = writer.write_vectors(vectors, self.params.dense, self.vectors)
        recall = asdict(built.recall) if built.recall is not None else None
        return WrittenIndexes(self.encoder.dimension, built.kind, recall)

    def _copy_vectors(self, file: VectorFile) -> list[MissingVector]:
        """Copy every chunk's stored vector into the file, and return the missing ones."""
        missing: dict[str, MissingVector] = {}
        waiting: list[MissingVector] = []
        written = 0

        def copy_waiting() -> None:
            nonlocal written
            keys = sorted({item.text_sha256 for item in waiting})
            found = read_vectors(self.store, self.encoder.fingerprint, keys, self.encoder.dimension)
            block = np.zeros((len(waiting), self.encoder.dimension), dtype=np.float32)
            for row, item in enumerate(waiting):
                vector = found.get(item.text_sha256)
                if vector is None:
                    missing.setdefault(item.text_sha256, item)
                else:
                    block[row] = vector
            file.write(written, block)
            written += len(waiting)
            waiting.clear()

        for index, document in enumerate(self.documents):
            for chunk, row in enumerate(document.hashes):
                waiting.append(MissingVector(index, chunk, row.tobytes().hex()))
                if len(waiting) >= _CHUNKS_PER_BLOCK:
                    copy_waiting()
        if waiting:
            copy_waiting()
        return list(missing.values())
