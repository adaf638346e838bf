"""Allocate contiguous ranges of arena positions by first fit. Ranges are freed entirely or in parts."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from model.errors import ModelError


@dataclass(frozen=True, slots=True, order=True)
class KeyRange:
    """A range of ``length`` consecutive positions of an arena, from ``start`` on."""

    start: int
    length: int

    @property
    def end(self) -> int:
        """The position after the last one."""
        return self.start + self.length

    def first(self, length: int) -> KeyRange:
        """Return the first ``length`` positions of this range."""
        return KeyRange(self.start, length)

    def without_first(self, length: int) -> KeyRange:
        """Return this range without its first ``length`` positions."""
        return KeyRange(self.start + length, self.length - length)


class RangeAllocator:
    """An allocator of positions 0 .. total - 1. It keeps free positions as disjoint, ordered ranges."""

    def __init__(self, total: int) -> None:
        if total < 1:
            raise ModelError(f"an arena of {total} positions was requested: it needs at least one")
        self._total = total
        self._starts, self._lengths = [0], [total]

    @property
    def total(self) -> int:
        """Total number of positions."""
        return self._total

    @property
    def free(self) -> int:
        """Number of free positions, in ranges of any size."""
        return sum(self._lengths)

    @property
    def largest(self) -> int:
        """Length of the largest free range."""
        return max(self._lengths, default=0)

    def take(self, length: int) -> KeyRange | None:
        """Allocate ``length`` positions from the first free range that is long enough; None if there is none."""
        if length < 0:
            raise ValueError(f"a range of {length} positions was requested")
        if length == 0:
            return KeyRange(0, 0)
        for index, free in enumerate(self._lengths):
            if free < length:
                continue
            start = self._starts[index]
            if free == length:
                del self._starts[index], self._lengths[index]
            else:
                self._starts[index], self._lengths[index] = start + length, free - length
            return KeyRange(start, length)
        return None

    def give_back(self, taken: KeyRange) -> None:
        """Free a range, or a part of one. Raises ModelError if any of it is already free."""
        if taken.length == 0:
            return
        index = bisect_left(self._starts, taken.start)
        after = index < len(self._starts) and taken.end > self._starts[index]
        before = index > 0 and self._starts[index - 1] + self._lengths[index - 1] > taken.start
        if after or before or taken.start < 0 or taken.end > self._total:
            raise ModelError(f"positions {taken.start} to {taken.end - 1} of the arena were freed twice")
        self._starts.insert(index, taken.start)
        self._lengths.insert(index, taken.length)
        for left in (index, index - 1):  # merge with the right neighbour, then with the left one
            if 0 <= left < len(self._starts) - 1 and self._starts[left] + self._lengths[left] == self._starts[left + 1]:
                self._lengths[left] += self._lengths[left + 1]
                del self._starts[left + 1], self._lengths[left + 1]
