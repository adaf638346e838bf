"""The allocator: against a plain set of free positions, under random taking and giving back."""

from __future__ import annotations

import random

import pytest

from model.engine_state.ranges import KeyRange, RangeAllocator
from model.errors import ModelError


def test_against_a_set_of_positions() -> None:
    rng, total = random.Random(0), 60
    allocator, free, taken = RangeAllocator(total), set(range(total)), []
    for _ in range(600):
        if taken and rng.random() < 0.5:
            part = taken.pop(rng.randrange(len(taken)))
            cut = rng.randint(0, part.length)
            allocator.give_back(part.without_first(cut))
            free |= set(range(part.start + cut, part.end))
            if cut:
                taken.append(part.first(cut))
        else:
            length = rng.randint(1, 15)
            part = allocator.take(length)
            fits = any(set(range(s, s + length)) <= free for s in range(total - length + 1))
            assert (part is not None) == fits
            if part is not None:
                assert set(range(part.start, part.end)) <= free
                free -= set(range(part.start, part.end))
                taken.append(part)
        assert allocator.free == len(free)
        assert allocator.largest == max((len(run) for run in runs(free)), default=0)


def runs(free: set[int]) -> list[list[int]]:
    out: list[list[int]] = []
    for position in sorted(free):
        if out and out[-1][-1] == position - 1:
            out[-1].append(position)
        else:
            out.append([position])
    return out


def test_freeing_twice_is_an_error_wherever_it_overlaps() -> None:
    allocator = RangeAllocator(10)
    part = allocator.take(4)
    assert part == KeyRange(0, 4)
    allocator.give_back(part)
    for wrong in (KeyRange(0, 4), KeyRange(3, 2), KeyRange(9, 5)):
        with pytest.raises(ModelError, match="freed twice"):
            allocator.give_back(wrong)
    assert allocator.take(0) == KeyRange(0, 0)
    assert allocator.take(11) is None
    with pytest.raises(ModelError, match="0 positions"):
        RangeAllocator(0)
