"""Chunk stored documents, and hash the texts to be embedded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from data.documents import Document
from data.refused import Refused
from data.store import Store
from retrieval.chunking.chunker import Span, chunks_from_spans, searchable_text
from retrieval.generations.document_versions import StoredVersion, read_documents
from retrieval.generations.folder import ChunkTable
from retrieval.generations.manifest import DocumentVersion
from retrieval.indexing.chunker_pool import ChunkerPool, Spans, TextToChunk
from retrieval.indexing.reading import ReadBatch, chunked_differently_before
from retrieval.indexing.vector_cache import TextHashes


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """The chunks of a document, in 48 bytes per chunk.

    spans: (n, 2) start and end of each chunk. hashes: (n, 32) SHA-256 of their searchable texts.
    """

    document_id: str
    version: StoredVersion
    spans: Spans
    hashes: TextHashes


@dataclass(frozen=True, slots=True)
class ChunkedBatch:
    """The result of chunking a ReadBatch."""

    collection_id: int
    documents: tuple[ChunkedDocument, ...]
    refused: tuple[Refused, ...]


@dataclass(slots=True)
class ChunkingStage:
    """Progress of chunking, written by the chunking thread and read by others."""

    documents: int = 0
    ended: bool = False


class KnownSpans:
    """Chunk spans of the previous generation's documents; empty if it used other chunking parameters."""

    def __init__(self, table: ChunkTable | None) -> None:
        self._rows = table.rows if table is not None else np.zeros((0, 3), dtype=np.int64)
        self._first: Mapping[DocumentVersion, int] = {}
        if table is not None:
            # Rows are in document order, so each document's rows are contiguous.
            self._starts = np.searchsorted(self._rows[:, 0], np.arange(len(table.versions) + 1))
            self._first = {version: index for index, version in enumerate(table.versions)}

    def get(self, version: DocumentVersion) -> Spans | None:
        """Return the document's spans, if known."""
        index = self._first.get(version)
        if index is None:
            return None
        return self._rows[self._starts[index] : self._starts[index + 1], 1:]


def text_hash(text: str) -> bytes:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).digest()


def searchable_texts(document: Document, spans: Spans) -> list[str]:
    """Return the texts that are embedded and indexed for the document's chunks."""
    chunks = chunks_from_spans(document, [Span(start, end) for start, end in spans.tolist()])
    return [searchable_text(chunk) for chunk in chunks]


def chunk_batches(
    store: Store, batches: Iterable[ReadBatch], known: KnownSpans, chunkers: ChunkerPool, state: ChunkingStage
) -> Iterator[ChunkedBatch]:
    """Chunk stored documents and yield a result for each batch.

    known: spans to reuse for unchanged documents. state: updated with the progress.
    """
    for batch in batches:
        documents = [item.document for item in read_documents(store, [version for _, version in batch.versions])]
        spans: list[Spans | None] = []
        todo: list[TextToChunk] = []
        for document, (document_id, version) in zip(documents, batch.versions, strict=True):
            # Earlier versions of Plumbline chunked such documents differently. Chunking them again is cheap.
            stale = version.reoutlined or chunked_differently_before(document)
            found = None if stale else known.get(DocumentVersion(document_id, version.sha256))
            spans.append(found)
            if found is None:
                todo.append(TextToChunk(document.text, document.outline))
        fresh = iter(chunkers.chunk(todo))
        done: list[ChunkedDocument] = []
        for document, (document_id, version), found in zip(documents, batch.versions, spans, strict=True):
            document_spans = next(fresh) if found is None else found
            hashes = b"".join(map(text_hash, searchable_texts(document, document_spans)))
            rows = np.frombuffer(hashes, dtype=np.uint8).reshape(-1, 32)
            done.append(ChunkedDocument(document_id, version, document_spans, rows))
        state.documents += len(done)
        yield ChunkedBatch(batch.collection_id, tuple(done), batch.refused)
    state.ended = True
