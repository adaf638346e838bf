"""A decoding step with fixed shapes, so that a captured CUDA graph can be replayed while sequences change.

Every row gathers ``capacity`` positions of the arena by an index, and masks those beyond its own length. Only the
values of these tensors change between steps. Gathering copies keys and values, but no kernel needs to be launched.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from model.engine_state.arena import KeyValueArena
from model.engine_state.reads import RowGroup
from model.errors import ModelError


class IndexedDecodeState:
    """An AttentionState for ``rows`` rows of up to ``capacity`` positions.

    spare: arena position that rows without a sequence write and read.
    """

    def __init__(self, arena: KeyValueArena, rows: int, capacity: int, spare: int) -> None:
        device = arena.keys.device
        self._arena, self._spare = arena, spare
        self._index = torch.zeros((rows, capacity), dtype=torch.long, device=device)  # (R, C)
        self._lengths = torch.ones(rows, dtype=torch.long, device=device)  # including the token being read
        self._slots = torch.full((rows,), spare, dtype=torch.long, device=device)
        self._columns = torch.arange(capacity, device=device)[None]
        self._rows = torch.arange(rows, device=device)
        self._filled = 0

    def load(self, groups: Sequence[RowGroup]) -> None:
        """Load the rows of these groups, in order. Raises ModelError if they do not fit."""
        rows, capacity = self._index.shape
        index, lengths = [], []
        for group in groups:
            before = [position for part in group.prompt for position in range(part.start, part.end)]
            for row in range(group.rows):
                own = group.own_start + row * group.own_stride
                index.append([*before, *range(own, own + group.own_length)])
                lengths.append(group.length)
        if len(index) > rows or max(lengths, default=0) > capacity:
            raise ModelError(
                f"{len(index)} rows of up to {max(lengths, default=0)} positions were given to a step of {rows} rows "
                f"and {capacity} positions"
            )
        self._filled = len(index)
        missing = rows - len(index)
        slots = [row[-1] for row in index] + [self._spare] * missing
        padded = [row + [self._spare] * (capacity - len(row)) for row in index] + [[self._spare] * capacity] * missing
        self._index.copy_(torch.tensor(padded))
        self._lengths.copy_(torch.tensor(lengths + [1] * missing))
        self._slots.copy_(torch.tensor(slots))

    def positions(self, steps: int) -> Tensor:
        """Return the position of each row's new token, (R, 1). See AttentionState."""
        if steps != 1:
            raise ModelError(f"a decoding step reads one token per row, not {steps}")
        return self._lengths[:, None] - 1

    def attend(
        self, layer: int, query: Tensor, keys: Tensor, values: Tensor, window: int | None, mask: Tensor | None
    ) -> Tensor:
        """Store the new keys and values and attend for query (R, H, 1, D). See AttentionState."""
        if mask is not None:
            raise ModelError("a decoding step of the engine does not accept a mask")
        self._arena.store(layer, self._slots, keys[:, :, 0], values[:, :, 0])
        all_keys, all_values = self._arena.gather(layer, self._index)  # (R, Hkv, C, D)
        reads = self._columns < self._lengths[:, None]
        if window is not None:
            reads = reads & (self._columns >= self._lengths[:, None] - window)
        grouped = query.shape[1] != keys.shape[1]
        return F.scaled_dot_product_attention(
            query, all_keys, all_values, attn_mask=reads[:, None, None], enable_gqa=grouped
        )

    def advance(self, steps: int) -> None:
        """Do nothing, because a replayed graph does not run this. Call ``next_step`` after each step instead."""

    def next_step(self) -> None:
        """Advance the used rows by one position."""
        filled = self._rows[: self._filled]
        self._lengths[: self._filled] += 1
        self._slots[: self._filled] += 1
        self._index[filled, self._lengths[: self._filled] - 1] = self._slots[: self._filled]
