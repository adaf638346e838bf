"""Sources of chunks for arms and verifiers: a search, a collection's chunks, and a question's gold passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from data.questions import Question
from retrieval.chunking.chunks import Chunk, RetrievedChunk


class Searcher(Protocol):
    """The retriever interface that arms and verifiers use."""

    def retrieve_many(self, queries: Sequence[str], k: int) -> tuple[tuple[RetrievedChunk, ...], ...]:
        """Return the k best chunks for each query, best first."""


class PassageSource(Protocol):
    """The collection interface that arms and verifiers use."""

    def chunks_of(self, document_id: str) -> tuple[Chunk, ...]:
        """Return all chunks of a document in document order; empty if the collection does not contain it."""


def gold_chunks(question: Question, source: PassageSource, ranked: Sequence[RetrievedChunk] = ()) -> tuple[Chunk, ...]:
    """Return the question's gold passages without duplicates.

    These are the chunks that overlap its evidence, or those of its relevant documents if it has no evidence. With
    evidence, the first chunk of every span comes before the second of any. Without, chunks of ``ranked`` from a
    relevant document come first, then the documents' chunks in turn. Empty if the question has neither, or if the
    source contains none of them.
    """
    if question.evidence:
        return tuple(
            dict.fromkeys(
                _in_turns(
                    [
                        [c for c in source.chunks_of(span.document_id) if c.start < span.end and span.start < c.end]
                        for span in question.evidence
                    ]
                )
            )
        )
    relevant = set(question.relevant_document_ids)
    first = [r.chunk for r in ranked if r.chunk.document_id in relevant]
    return tuple(dict.fromkeys([*first, *_in_turns([source.chunks_of(d) for d in question.relevant_document_ids])]))


def _in_turns(rows: Sequence[Sequence[Chunk]]) -> list[Chunk]:
    """Return the first element of every row, then the second of every row, and so on."""
    longest = max((len(row) for row in rows), default=0)
    return [row[index] for index in range(longest) for row in rows if index < len(row)]
