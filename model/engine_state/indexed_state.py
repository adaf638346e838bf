"""A decoding step of fixed shapes, which a captured CUDA graph can replay while sequences grow, join and leave.

Every row reads ``capacity`` positions through an index into the arena and uses its own length of them; only numbers in
these tensors change between steps. This copies what is read, but saves the launch of every kernel.
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

    spare: the position that rows without a sequence write and read.
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
        """Load these rows, in order; the others have no sequence. Raises ModelError if they do not fit."""
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
        """See AttentionState: (R, 1)."""
        if steps != 1:
            raise ModelError(f"a decoding step reads one token a row, not {steps}")
        return self._lengths[:, None] - 1

    def attend(
        self, layer: int, query: Tensor, keys: Tensor, values: Tensor, window: int | None, mask: Tensor | None
    ) -> Tensor:
        """See AttentionState; query (R, H, 1, D)."""
        if mask is not None:
            raise ModelError("a decoding step of the engine knows what its rows read: it takes no mask")
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
        """No effect: a replayed graph would count again. ``next_step`` is called outside of it."""

    def next_step(self) -> None:
        """Advance the used rows by one position."""
        filled = self._rows[: self._filled]
        self._lengths[: self._filled] += 1
        self._slots[: self._filled] += 1
        self._index[filled, self._lengths[: self._filled] - 1] = self._slots[: self._filled]
