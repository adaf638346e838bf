"""Which claims of an answer are read together: neighbours, as many as a scorer reads at once."""

from __future__ import annotations

from collections.abc import Sequence

ROOM_STEP = 16
"""Room for evidence is rounded down to this, so that claims of about equal length share windows."""


def answer_parts(sizes: Sequence[int], most: int) -> list[tuple[int, ...]]:
    """Indices of claims, in order, in parts of at most ``most`` tokens; a longer claim is a part by itself.

    sizes: tokens of each claim. Parts are filled one after another, so all but the last are as full as they can be.
    """
    parts: list[tuple[int, ...]] = []
    current: list[int] = []
    taken = 0
    for index, size in enumerate(sizes):
        if current and taken + size > most:
            parts.append(tuple(current))
            current, taken = [], 0
        current.append(index)
        taken += size
    if current:
        parts.append(tuple(current))
    return parts
