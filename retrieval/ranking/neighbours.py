"""Add the neighbouring chunks of retrieved chunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from retrieval.chunking.chunks import Chunk, RetrievedChunk


def with_neighbours(
    found: Sequence[RetrievedChunk], chunks: Sequence[Chunk], position: Callable[[Chunk], int], count: int
) -> tuple[RetrievedChunk, ...]:
    """Return each chunk followed by up to ``count`` neighbours on each side in its document that are not in the list
    yet.

    chunks: all, in index order. position: index of a chunk in it. A neighbour has the score of the retrieved chunk and
    no rank or score of a retriever. Chunks are not merged: text between two of them is not part of either.
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
