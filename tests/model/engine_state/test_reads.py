"""Read plans: every row reads each of its positions once, and nothing else; shared ones together."""

from __future__ import annotations

import random

import pytest

from model.engine_state.ranges import KeyRange
from model.engine_state.reads import CacheRead, RowGroup, plan_reads, plan_separate_reads


def read_by(row: int, reads: tuple[CacheRead, ...]) -> list[int]:
    out: list[int] = []
    for read in reads:
        if read.first_row <= row < read.first_row + read.rows:
            assert read.begins == (not out)
            begin = read.start + (row - read.first_row) * read.stride
            out.extend(range(begin, begin + read.length))
    return out


def expected(groups: list[RowGroup], window: int | None) -> list[list[int]]:
    out = []
    for group in groups:
        for row in range(group.rows):
            own = group.own_start + row * group.own_stride
            all_of_it = [p for part in group.prompt for p in range(part.start, part.end)]
            all_of_it += range(own, own + group.own_length)
            out.append(all_of_it[-window:] if window else all_of_it)
    return out


@pytest.mark.parametrize("window", [None, 1, 4, 7, 30])
def test_each_row_reads_what_it_must(window: int | None) -> None:
    rng = random.Random(window or 0)
    for _ in range(200):
        base = (KeyRange(0, rng.randint(1, 9)), KeyRange(50, rng.randint(1, 9)))
        groups = []
        for number in range(rng.randint(1, 5)):
            shared = rng.choice([(), base[:1], base, (base[0].first(rng.randint(1, base[0].length)),)])
            own = KeyRange(100 + 40 * number, rng.randint(1, 6))
            rows, stride, length = rng.randint(1, 4), 8, rng.randint(1, 8)
            groups.append(RowGroup(rows, (*shared, own), own.end, stride, length))
        groups.sort(key=lambda g: [part.start for part in g.prompt])
        reads = plan_reads(groups, window)
        for row, positions in enumerate(expected(groups, window)):
            assert sorted(read_by(row, reads)) == sorted(positions)


def test_what_is_common_is_read_once() -> None:
    prompt, longer = (KeyRange(0, 16),), (KeyRange(0, 8), KeyRange(40, 4))
    groups = [RowGroup(3, prompt, 100, 10, 2), RowGroup(2, prompt, 200, 10, 5), RowGroup(1, longer, 44, 9, 3)]
    assert plan_reads(groups) == (
        CacheRead(0, 6, 0, 0, 8, True),
        CacheRead(0, 5, 8, 0, 8, False),
        CacheRead(0, 3, 100, 10, 2, False),
        CacheRead(3, 2, 200, 10, 5, False),
        CacheRead(5, 1, 40, 0, 7, False),  # a unshared row's own positions lie right behind its prompt
    )


@pytest.mark.parametrize("window", [None, 1, 3, 9])
def test_separate_reads_do_not_depend_on_neighbours(window: int | None) -> None:
    groups = [RowGroup(2, (KeyRange(0, 6),), 20, 10, 4), RowGroup(1, (KeyRange(0, 6),), 6, 9, 2)]
    together = plan_separate_reads(groups, window)
    for row, positions in enumerate(expected(groups, window)):
        assert read_by(row, together) == positions
    alone = plan_separate_reads(groups[1:], window)
    mine = [read for read in together if read.first_row <= 2 < read.first_row + read.rows]
    assert [(r.start, r.length) for r in alone] == [(r.start, r.length) for r in mine]


def test_separate_reads_of_one_prompt_are_one_read_where_its_rows_stand_beside_each_other() -> None:
    prompt, other = (KeyRange(0, 6),), (KeyRange(50, 6),)
    groups = [RowGroup(2, prompt, 20, 10, 4), RowGroup(3, prompt, 70, 10, 1), RowGroup(1, other, 90, 9, 2)]
    assert plan_separate_reads(groups) == (
        CacheRead(0, 5, 0, 0, 6, True),
        CacheRead(5, 1, 50, 0, 6, True),
        CacheRead(0, 2, 20, 10, 4, False),
        CacheRead(2, 3, 70, 10, 1, False),
        CacheRead(5, 1, 90, 9, 2, False),
    )
    # The window has left the prompt behind for the row in between.
    separate = plan_separate_reads([groups[0], RowGroup(1, prompt, 40, 9, 9), RowGroup(3, prompt, 70, 10, 4)], 8)
    assert separate[:2] == (CacheRead(0, 2, 2, 0, 4, True), CacheRead(3, 3, 2, 0, 4, True))
