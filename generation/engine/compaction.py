"""Move rows that still decode into the slots of finished rows."""

from __future__ import annotations

from generation.engine.sequences import Rows
from model.engine_state.arena import KeyValueArena


def close_gaps(rows: Rows, arena: KeyValueArena) -> int:
    """Move the last decoding rows, with keys and values, into the slots of finished rows.

    Returns the number of rows that decode. The caller frees the slots after them.
    """
    live = [row for row, sample in enumerate(rows.samples) if sample.finish is None]
    count = len(live)
    gaps = [row for row in range(count) if rows.samples[row].finish is not None]
    for gap, row in zip(gaps, [row for row in live if row >= count], strict=True):
        span = rows.own.without_first(row * rows.stride).first(rows.read)
        arena.copy(span, rows.own.start + gap * rows.stride)
        rows.samples[gap] = rows.samples[row]
        if rows.seen is not None:
            rows.seen[gap] = rows.seen[row]
    return count
