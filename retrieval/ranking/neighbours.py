"""Add the neighbouring chunks of retrieved chunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from retrieval.chunking.chunks import Chunk, RetrievedChunk


def with_neighbours(
    found: Sequence[RetrievedChunk], chunks: Sequence[Chunk], position: Callable[[Chunk], int], count: int
) -> tuple[RetrievedChunk, ...]:
    """Return each chunk, followed by up to ``count`` neighbours from its document on each side.

    Neighbours that are already in the list are not repeated. chunks: all chunks, in index order. position: returns the
    index of a chunk in ``chunks``. A neighbour gets the score of the retrieved chunk, but no rank or score of a
    retriever. Chunks are not merged: text between two chunks belongs to neither.
    """
    ids = {item.chunk.id for item in found}
    listed: list[RetrievedChunk] = []
    for item in found:
        listed.append(item)
        index = position(item.chunk)
        for step in (side * distance for distance in range(1, count + 1) for side in (-1, 1)):
            other = index + step
            if not 0 <= other < len(chunks):
                continue
            chunk = chunks[other]
            if chunk.document_id != item.chunk.document_id or chunk.id in ids:
                continue
            ids.add(chunk.id)
            listed.append(RetrievedChunk(chunk, item.score, 0))
    return tuple(replace(item, rank=rank) for rank, item in enumerate(listed, start=1))
