"""Fitting chunks into a token budget: whole chunks first, then one cut at a sentence boundary, never the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from retrieval.chunking.chunks import RetrievedChunk


@dataclass(frozen=True, slots=True)
class FittedChunk:
    """A chunk and how many of its first characters are shown."""

    retrieved: RetrievedChunk
    end: int


@dataclass(frozen=True, slots=True)
class BudgetFit:
    """What fits, in the order given, and what was left out."""

    shown: tuple[FittedChunk, ...]
    omitted: tuple[RetrievedChunk, ...]


def fit_chunks(
    chunks: Sequence[RetrievedChunk],
    budget: int,
    cost: Callable[[RetrievedChunk, int], int],
    sentence_ends: Callable[[str], Sequence[int]],
    limit: int | None = None,
) -> BudgetFit:
    """Take chunks in order while they fit whole; the first that does not is cut after its last sentence that fits.

    cost(chunk, end): tokens that the chunk's first ``end`` characters take, markers and title included. sentence_ends:
    the offsets at which a text may be cut. limit: most chunks the model can tell apart. A chunk of which no sentence
    fits is omitted, and so is everything after a cut: a lower-ranked chunk never displaces a higher one.
    """
    shown: list[FittedChunk] = []
    left = budget
    for index, chunk in enumerate(chunks):
        if limit is not None and len(shown) == limit:
            return BudgetFit(tuple(shown), tuple(chunks[index:]))
        text = chunk.chunk.text
        whole = cost(chunk, len(text))
        if whole <= left:
            shown.append(FittedChunk(chunk, len(text)))
            left -= whole
            continue
        ends = [end for end in sentence_ends(text) if end < len(text) and cost(chunk, end) <= left]
        if ends:
            shown.append(FittedChunk(chunk, max(ends)))
            index += 1
        return BudgetFit(tuple(shown), tuple(chunks[index:]))
    return BudgetFit(tuple(shown), ())
