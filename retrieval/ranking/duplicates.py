"""Leaving out chunks that say the same in the same words as a better one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from retrieval.chunking.chunks import RetrievedChunk

_WORD = re.compile(r"\w+")
_SHINGLE = 4


def shingles(text: str, size: int = _SHINGLE) -> frozenset[tuple[str, ...]]:
    """All runs of ``size`` words, lower case: Broder 1997. A shorter text is one shingle."""
    words = _WORD.findall(text.lower())
    if len(words) <= size:
        return frozenset([tuple(words)])
    return frozenset(tuple(words[i : i + size]) for i in range(len(words) - size + 1))


def resemblance(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """Shared shingles over all of both, in [0, 1]: Broder 1997, "resemblance" (Jaccard)."""
    return len(one & other) / len(one | other)


def without_duplicates(
    found: Sequence[RetrievedChunk], threshold: float, enough: int | None = None
) -> tuple[RetrievedChunk, ...]:
    """The chunks whose resemblance to every better one kept is below ``threshold``; ranks are given anew.

    enough: stop once so many are kept. Chunks of one document that only overlap at their ends stay.
    """
    kept: list[RetrievedChunk] = []
    seen: list[frozenset[tuple[str, ...]]] = []
    for item in found:
        if enough is not None and len(kept) >= enough:
            break
        mine = shingles(item.chunk.text)
        if any(resemblance(mine, other) >= threshold for other in seen):
            continue
        seen.append(mine)
        kept.append(replace(item, rank=len(kept) + 1))
    return tuple(kept)
