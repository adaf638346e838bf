"""Where chunks come from, as arms and verifiers see it: a search, a collection's chunks, a question's gold passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from data.questions import Question
from retrieval.chunking.chunks import Chunk, RetrievedChunk


class Searcher(Protocol):
    """What arms and verifiers need of a retriever."""

    def retrieve_many(self, queries: Sequence[str], k: int) -> tuple[tuple[RetrievedChunk, ...], ...]:
        """The k best chunks for each query, best first."""


class PassageSource(Protocol):
    """What arms and verifiers need of a collection."""

    def chunks_of(self, document_id: str) -> tuple[Chunk, ...]:
        """All chunks of a document, in order of place; empty when the collection does not hold it."""


def gold_chunks(question: Question, source: PassageSource, ranked: Sequence[RetrievedChunk] = ()) -> tuple[Chunk, ...]:
    """The question's gold passages, none twice: chunks that touch its evidence, else those of its relevant documents.

    With evidence, the first chunk of every span comes before the second of any. Without, those of ``ranked`` that lie
    in a relevant document come first, then the documents' chunks in turns. Empty when the question names neither, or
    the source holds none of them.
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
    """The first of every row, then the second of every row, and so on."""
    longest = max((len(row) for row in rows), default=0)
    return [row[place] for place in range(longest) for row in rows if place < len(row)]
