"""Merge the passages of a round of correction with those of the earlier prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk


def merged_passages(found: Sequence[RetrievedChunk], earlier: Prompt) -> tuple[RetrievedChunk, ...]:
    """Return the passages of both in turns: the best found, the first of the earlier prompt, the second found, ...

    Each passage occurs once, and ranks count from 1.
    """
    before = [chunk.retrieved for chunk in earlier.chunks]
    turns = [
        chunk
        for index in range(max(len(found), len(before)))
        for chunk in (*found[index : index + 1], *before[index : index + 1])
    ]
    distinct: dict[str, RetrievedChunk] = {}
    for chunk in turns:
        distinct.setdefault(chunk.chunk.id, chunk)
    return tuple(replace(chunk, rank=rank) for rank, chunk in enumerate(distinct.values(), start=1))
