"""The chunks of a collection by document, from which arms and verifiers take gold passages."""

from __future__ import annotations

from retrieval.chunking.chunks import Chunk
from retrieval.retriever import Retriever


class Passages:
    """The chunks of an open retriever by document. Implements evaluation.evidence.passages.PassageSource."""

    def __init__(self, retriever: Retriever) -> None:
        self._by_document: dict[str, list[Chunk]] = {}
        for chunk in retriever.chunks:
            self._by_document.setdefault(chunk.document_id, []).append(chunk)

    def chunks_of(self, document_id: str) -> tuple[Chunk, ...]:
        """Return the chunks of a document in order; empty if the collection does not contain the document."""
        return tuple(self._by_document.get(document_id, ()))
