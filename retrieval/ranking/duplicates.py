"""Remove chunks that are near-duplicates of a higher-ranked chunk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from retrieval.chunking.chunks import RetrievedChunk

_WORD = re.compile(r"\w+")
_SHINGLE = 4


def shingles(text: str, size: int = _SHINGLE) -> frozenset[tuple[str, ...]]:
    """Return all runs of ``size`` lower-case words (Broder 1997). A shorter text is one shingle."""
    words = _WORD.findall(text.lower())
    if len(words) <= size:
        return frozenset([tuple(words)])
    return frozenset(tuple(words[i : i + size]) for i in range(len(words) - size + 1))


def resemblance(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """Return the Jaccard similarity of two sets of shingles, in [0, 1], which Broder (1997) calls resemblance."""
    return len(one & other) / len(one | other)


def without_duplicates(
    found: Sequence[RetrievedChunk], threshold: float, max_count: int | None = None
) -> tuple[RetrievedChunk, ...]:
    """Return the chunks whose resemblance to every kept, higher-ranked chunk is below ``threshold``, with new ranks.

    max_count: number of kept chunks after which to stop, None for no limit. Chunks of one document that overlap only at
    their ends are kept.
    """
    kept: list[RetrievedChunk] = []
    seen: list[frozenset[tuple[str, ...]]] = []
    for item in found:
        if max_count is not None and len(kept) >= max_count:
            break
        own_shingles = shingles(item.chunk.text)
        if any(resemblance(own_shingles, other) >= threshold for other in seen):
            continue
        seen.append(own_shingles)
        kept.append(replace(item, rank=len(kept) + 1))
    return tuple(kept)
