"""Plan the reads of a decoding step: ranges that several rows share are read once, then each row's own positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from model.engine_state.ranges import KeyRange


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Adjacent rows of a batch that decode in lockstep after the same prompt.

    rows: number of rows. prompt: ranges of the prompt's keys, in order of position. Row r has ``own_length`` own
    positions from own_start + r * own_stride on, including the one being written.
    """

    rows: int
    prompt: tuple[KeyRange, ...]
    own_start: int
    own_stride: int
    own_length: int

    @property
    def length(self) -> int:
        """Number of positions that each row reads."""
        return sum(part.length for part in self.prompt) + self.own_length


@dataclass(frozen=True, slots=True)
class CacheRead:
    """A read of ``length`` positions by each of the rows first_row .. first_row + rows - 1.

    start: first position that the first row reads. stride: offset of each next row's first position; 0 if all rows read
    the same positions. begins: whether this is the first read of these rows.
    """

    first_row: int
    rows: int
    start: int
    stride: int
    length: int
    begins: bool


def plan_reads(groups: Sequence[RowGroup], window: int | None = None) -> tuple[CacheRead, ...]:
    """Plan the reads of a step for rows in the order of ``groups``.

    Adjacent rows read the common part of their prompts together. window: number of last positions that each row reads;
    None reads all.
    """
    trails = []
    row = 0
    for group in groups:
        skipped = 0 if window is None else max(group.length - window, 0)
        trails.append(_trail(row, group, skipped))
        row += group.rows
    reads: list[CacheRead] = []
    _plan(trails, True, reads)
    return tuple(reads)


def plan_separate_reads(groups: Sequence[RowGroup], window: int | None = None) -> tuple[CacheRead, ...]:
    """Plan two reads for each row: its prompt, which must be one range, and its own positions.

    The way a row's sum is split then depends on the row's own lengths only, not on the rest of the batch. Adjacent rows
    with exactly the same prompt read it together. window: as in ``plan_reads``.
    """
    reads: list[CacheRead] = []
    own: list[CacheRead] = []
    row = 0
    for group in groups:
        skipped = 0 if window is None else max(group.length - window, 0)
        (prompt,) = group.prompt
        near = prompt.without_first(min(skipped, prompt.length))
        own_skipped = max(skipped - prompt.length, 0)
        if near.length:
            last = reads[-1] if reads else None
            adjacent = last is not None and last.first_row + last.rows == row
            if last is not None and adjacent and (last.start, last.length) == (near.start, near.length):
                reads[-1] = replace(last, rows=last.rows + group.rows)
            else:
                reads.append(CacheRead(row, group.rows, near.start, 0, near.length, True))
        own.append(
            CacheRead(
                row,
                group.rows,
                group.own_start + own_skipped,
                group.own_stride,
                group.own_length - own_skipped,
                not near.length,
            )
        )
        row += group.rows
    return (*reads, *own)


@dataclass(slots=True)
class _Trail:
    """Remaining reads of rows first_row .. first_row + rows - 1: shared ranges, then each row's own range."""

    first_row: int
    rows: int
    shared: list[KeyRange]
    own: KeyRange
    stride: int


def _trail(row: int, group: RowGroup, skipped: int) -> _Trail:
    shared: list[KeyRange] = []
    for part in group.prompt:
        kept = part.without_first(min(skipped, part.length))
        skipped -= part.length - kept.length
        if not kept.length:
            continue
        if shared and shared[-1].end == kept.start:
            shared[-1] = KeyRange(shared[-1].start, shared[-1].length + kept.length)
        else:
            shared.append(kept)
    own = KeyRange(group.own_start, group.own_length).without_first(skipped)
    return _Trail(row, group.rows, shared, own, group.own_stride)


def _plan(trails: list[_Trail], begins: bool, reads: list[CacheRead]) -> None:
    """Append the reads of ``trails``. Adjacent ones with the same next start read the common part, then their rest."""
    index = 0
    while index < len(trails):
        trail = trails[index]
        if not trail.shared:
            reads.append(
                CacheRead(trail.first_row, trail.rows, trail.own.start, trail.stride, trail.own.length, begins)
            )
            index += 1
            continue
        same = [trail]
        for other in trails[index + 1 :]:
            if not other.shared or other.shared[0].start != trail.shared[0].start:
                break
            same.append(other)
        index += len(same)
        common = min(t.shared[0].length for t in same)
        if len(same) == 1 and trail.rows == 1 and len(trail.shared) == 1 and trail.shared[0].end == trail.own.start:
            # A single row whose own positions directly follow its prompt: one read of both.
            length = common + trail.own.length
            reads.append(CacheRead(trail.first_row, 1, trail.shared[0].start, 0, length, begins))
            continue
        rows = sum(t.rows for t in same)
        reads.append(CacheRead(trail.first_row, rows, trail.shared[0].start, 0, common, begins))
        for t in same:
            rest = t.shared[0].without_first(common)
            t.shared[:1] = [rest] if rest.length else []
        _plan(same, False, reads)
