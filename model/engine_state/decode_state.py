"""The AttentionState of a decoding step with many rows, each of which stores one position and follows a read plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from model.engine_state.arena import KeyValueArena
from model.engine_state.cascade import PartialAttention, merge, merge_invariant, read_part, read_part_invariant
from model.engine_state.reads import CacheRead, RowGroup, plan_reads, plan_separate_reads
from model.engine_state.unshared_reads import (
    SplitPlan,
    ranges_of,
    read_unshared,
    split_plan,
    supports_unshared_reads,
    unshared_rows,
)
from model.errors import ModelError
from model.row_steps import RowReads


class DecodeState:
    """The AttentionState of decoding steps with token ids (N, 1), for rows in the order of ``groups``.

    It supports any number of steps with the same rows. invariant: a row's results do not depend on the other rows,
    because each row reads its prompt separately and in the same two parts. padding: number of padding rows after the
    groups' rows; their results are ignored, and they write and read ``padding_slot`` only.
    """

    def __init__(
        self,
        arena: KeyValueArena,
        groups: Sequence[RowGroup],
        max_positions: int,
        *,
        invariant: bool = False,
        padding: int = 0,
        padding_slot: int = 0,
    ) -> None:
        self._arena, self._max_positions, self._invariant = arena, max_positions, invariant
        if padding:
            spare = RowGroup(padding, (), padding_slot, 0, 1)
            self._groups, self._padding = [*groups, spare], 1
        else:
            self._groups, self._padding = list(groups), 0
        real = self._groups[: len(self._groups) - self._padding]
        self._longest = max((group.length for group in real), default=0)
        device = arena.keys.device
        positions = [group.length - 1 for group in real for _ in range(group.rows)] + [0] * padding
        slots = [
            group.own_start + row * group.own_stride + group.own_length - 1
            for group in real
            for row in range(group.rows)
        ] + [padding_slot] * padding
        self._positions = torch.tensor(positions, device=device)[:, None]  # (N, 1)
        self._slots = torch.tensor(slots, device=device)  # (N)
        self._forward = len(positions) - padding
        self._plans: dict[int | None, SplitPlan] = {}

    @property
    def slots(self) -> Tensor:
        """Cache slot for each row's next key and value: (N). See RowState."""
        return self._slots

    @property
    def rows(self) -> int:
        """Number N of rows of a step, including padding."""
        return self._positions.shape[0]

    def positions(self, steps: int) -> Tensor:
        """Return the position of each row's new token, (N, 1). See AttentionState."""
        if steps != 1:
            raise ModelError(f"a decoding step reads one token per row, not {steps}")
        if self._longest > self._max_positions:
            raise ModelError(f"{self._longest} tokens do not fit the context of {self._max_positions} positions")
        return self._positions

    def attend(
        self, layer: int, query: Tensor, keys: Tensor, values: Tensor, window: int | None, mask: Tensor | None
    ) -> Tensor:
        """Store the new keys and values and attend for query (N, H, 1, D). See AttentionState.

        Raises ModelError if a mask is given.
        """
        if mask is not None:
            raise ModelError("a decoding step of the engine does not accept a mask")
        self._arena.store(layer, self._slots, keys[:, :, 0], values[:, :, 0])
        rows, heads, _, dim = query.shape
        kv_heads = keys.shape[1]
        # The query heads of one key head are adjacent, so they read it together as if they were positions.
        grouped = query.view(rows, kv_heads, heads // kv_heads, dim)  # (N, Hkv, G, D)
        output = self._read(layer, grouped, self._plan(window))
        return output.reshape(rows, heads, 1, dim)

    def advance(self, steps: int) -> None:
        """Advance every row, except padding, by ``steps`` positions."""
        self._positions[: self._forward] += steps
        self._slots[: self._forward] += steps
        real = len(self._groups) - self._padding
        for index in range(real):
            group = self._groups[index]
            self._groups[index] = replace(group, own_length=group.own_length + steps)
        self._longest += steps
        self._plans.clear()

    def numbers(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the keys and the values of all layers without copying. See RowState."""
        return self._arena.all_numbers()

    def row_reads(self, window: int | None) -> RowReads:
        """Return the slots that each row reads. See RowState."""
        real = self._groups[: len(self._groups) - self._padding]
        plan = (plan_separate_reads if self._invariant else plan_reads)(real, window)
        if self._padding:
            plan = (*plan, self._spare_read())
        unshared = unshared_rows(range(self.rows), ranges_of(plan, self.rows), every=True)
        return RowReads(unshared.ranges, unshared.offsets, unshared.order)

    def _spare_read(self) -> CacheRead:
        spare = self._groups[-1]
        return CacheRead(self._forward, spare.rows, spare.own_start, 0, 1, True)

    def _plan(self, window: int | None) -> SplitPlan:
        if window not in self._plans:
            real = self._groups[: len(self._groups) - self._padding]
            plan = (plan_separate_reads if self._invariant else plan_reads)(real, window)
            if self._padding:
                plan = (*plan, self._spare_read())
            if not self._invariant:
                self._plans[window] = split_plan(plan, self.rows, self._arena)
            elif supports_unshared_reads(self._arena):
                unshared = unshared_rows(range(self.rows), ranges_of(plan, self.rows), every=True)
                self._plans[window] = SplitPlan(unshared, ())
            else:
                self._plans[window] = SplitPlan(None, plan)
        return self._plans[window]

    def _read(self, layer: int, query: Tensor, plan: SplitPlan) -> Tensor:
        """Return the attention output (N, Hkv, G, D) of query (N, Hkv, G, D)."""
        if plan.unshared is not None and plan.unshared.every:
            return read_unshared(self._arena, layer, query, plan.unshared)
        if plan.unshared is None and len(plan.others) == 1:
            return self._part(layer, query, plan.others[0]).output
        merge_parts = merge_invariant if self._invariant else merge
        output = log_sum = None
        for read in plan.others:
            part = self._part(layer, query, read)
            if output is None or log_sum is None:
                if read.rows == query.shape[0]:  # all rows start with this read, so no copy is needed
                    output, log_sum = part.output, part.log_sum
                    continue
                output = torch.empty_like(query, memory_format=torch.contiguous_format)
                log_sum = part.log_sum.new_empty(query.shape[:3])
            rows = slice(read.first_row, read.first_row + read.rows)
            if not read.begins:
                part = merge_parts(PartialAttention(output[rows], log_sum[rows]), part)
                if read.rows == query.shape[0]:
                    output, log_sum = part.output, part.log_sum
                    continue
            output[rows], log_sum[rows] = part.output, part.log_sum
        if output is None:
            output = torch.empty_like(query, memory_format=torch.contiguous_format)
        if plan.unshared is not None:
            output.index_copy_(0, plan.unshared.rows, read_unshared(self._arena, layer, query, plan.unshared))
        return output

    def _part(self, layer: int, query: Tensor, read: CacheRead) -> PartialAttention:
        """Return the attention of one read. Rows that share keys are read together, the others as a batch."""
        part_query = query[read.first_row : read.first_row + read.rows]  # (n, Hkv, G, D)
        shared = read.rows > 1 and not read.stride
        keys, values = self._arena.view(layer, read.start, 1 if shared else read.rows, read.stride, read.length)
        if self._invariant:
            return read_part_invariant(part_query, keys, values)
        if not shared:
            return read_part(part_query, keys, values)
        rows, kv_heads, group, dim = part_query.shape
        flat = part_query.transpose(0, 1).reshape(1, kv_heads, rows * group, dim)
        part = read_part(flat, keys, values)
        return PartialAttention(
            part.output.reshape(kv_heads, rows, group, dim).transpose(0, 1),
            part.log_sum.view(kv_heads, rows, group).transpose(0, 1),
        )
