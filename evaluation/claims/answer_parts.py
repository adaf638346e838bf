"""Partition of an answer's claims into groups of neighbours that a scorer reads together."""

from __future__ import annotations

from collections.abc import Sequence

ROOM_STEP = 16
"""The tokens available for evidence are rounded down to a multiple of this, so that similar claims share windows."""


def answer_parts(sizes: Sequence[int], most: int) -> list[tuple[int, ...]]:
    """Group the claims of an answer, in order, into groups of at most ``most`` tokens; a longer claim is its own group.

    Returns the indices of each group's claims. sizes: number of tokens of each claim. Groups are filled one after
    another, so that all but the last are as full as possible.
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
