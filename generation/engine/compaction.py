"""Compaction: rows that still decode move into the slots of finished rows."""

from __future__ import annotations

from generation.engine.sequences import Rows
from model.engine_state.arena import KeyValueArena


def close_gaps(rows: Rows, arena: KeyValueArena) -> int:
    """Move the last decoding rows, with keys and values, into the slots of finished ones; returns how many rows decode.

    The caller frees the slots after that number.
    """
    live = [place for place, sample in enumerate(rows.samples) if sample.finish is None]
    count = len(live)
    gaps = [place for place in range(count) if rows.samples[place].finish is not None]
    for gap, place in zip(gaps, [place for place in live if place >= count], strict=True):
        stretch = rows.own.without_first(place * rows.stride).first(rows.read)
        arena.copy(stretch, rows.own.start + gap * rows.stride)
        rows.samples[gap] = rows.samples[place]
        if rows.seen is not None:
            rows.seen[gap] = rows.seen[place]
    return count
