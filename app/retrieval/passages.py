"""A collection's chunks by document: the source of gold passages for arms and verifiers."""

from __future__ import annotations

from retrieval.chunking.chunks import Chunk
from retrieval.retriever import Retriever


class Passages:
    """The chunks of an open retriever, as evaluation.evidence.passages.PassageSource."""

    def __init__(self, retriever: Retriever) -> None:
        self._by_document: dict[str, list[Chunk]] = {}
        for chunk in retriever.chunks:
            self._by_document.setdefault(chunk.document_id, []).append(chunk)

    def chunks_of(self, document_id: str) -> tuple[Chunk, ...]:
        """Chunks in document order; empty for a document that the collection does not hold."""
        return tuple(self._by_document.get(document_id, ()))
