"""Fit chunks into a token budget: complete chunks first, then one truncated at a sentence boundary.

The question is never cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from retrieval.chunking.chunks import RetrievedChunk


@dataclass(frozen=True, slots=True)
class FittedChunk:
    """A chunk that fits the budget. end: number of its leading characters that are shown."""

    retrieved: RetrievedChunk
    end: int


@dataclass(frozen=True, slots=True)
class BudgetFit:
    """The chunks that fit the budget, in the given order, and the omitted ones."""

    shown: tuple[FittedChunk, ...]
    omitted: tuple[RetrievedChunk, ...]


def fit_chunks(
    chunks: Sequence[RetrievedChunk],
    budget: int,
    cost: Callable[[RetrievedChunk, int], int],
    sentence_ends: Callable[[str], Sequence[int]],
    limit: int | None = None,
) -> BudgetFit:
    """Select chunks in order while they fit, and truncate the first one that does not.

    It is truncated after its last sentence that fits, or omitted if no sentence fits. All chunks after it are omitted,
    so that a lower-ranked chunk never displaces a higher one.

    budget: number of tokens available. cost(chunk, end): number of tokens of the chunk's first ``end`` characters,
    including markers and title. sentence_ends: function that returns the offsets at which a text may be truncated.
    limit: maximum number of chunks; None for no limit.
    """
    shown: list[FittedChunk] = []
    left = budget
    for index, chunk in enumerate(chunks):
        if limit is not None and len(shown) == limit:
            return BudgetFit(tuple(shown), tuple(chunks[index:]))
        text = chunk.chunk.text
        full_cost = cost(chunk, len(text))
        if full_cost <= left:
            shown.append(FittedChunk(chunk, len(text)))
            left -= full_cost
            continue
        ends = [end for end in sentence_ends(text) if end < len(text) and cost(chunk, end) <= left]
        if ends:
            shown.append(FittedChunk(chunk, max(ends)))
            index += 1
        return BudgetFit(tuple(shown), tuple(chunks[index:]))
    return BudgetFit(tuple(shown), ())
