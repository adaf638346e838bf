"""Rows that share nothing, read several at a time on a CPU.

Each has a range of its own, of its own length, anywhere in the arena: no view covers two of them. One by one, a row
and layer take the fused kernel about 120 us (bf16, 55 rows of some 350 positions, two cores), most of it getting ready;
eight gathered side by side take 35 a row, and copying their keys and values 30.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.engine_state.arena import KeyValueArena
from model.engine_state.cascade import read_part
from model.engine_state.reads import Read

_TOGETHER = 8  # 20 and 40 took as long a row, and leave more between the shortest and the longest


@dataclass(frozen=True, slots=True)
class LoneRows:
    """rows (R) of a step; the positions (R, C) they read, and 0 or -inf (R, 1, 1, C) for those that only fill up.

    What fills up is the row's own last position: nothing of anybody else's is ever multiplied with.
    """

    rows: Tensor
    positions: Tensor
    bias: Tensor


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """A step's reads: those of lone rows by groups, and the others."""

    lone: tuple[LoneRows, ...]
    others: tuple[Read, ...]


def split_plan(plan: Sequence[Read], dtype: torch.dtype, device: torch.device) -> SplitPlan:
    """Take the rows out that read one range of their own and nothing else, where there are several of them."""
    reads_of = Counter(row for read in plan for row in range(read.first_row, read.first_row + read.rows))
    lone = [read for read in plan if read.rows == 1 and reads_of[read.first_row] == 1]
    if device.type != "cpu" or len(lone) < 2:
        return SplitPlan((), tuple(plan))
    chosen = {read.first_row for read in lone}
    lone.sort(key=lambda read: (read.length, read.first_row))
    groups = [lone[first : first + _TOGETHER] for first in range(0, len(lone), _TOGETHER)]
    return SplitPlan(
        tuple(_lone_rows(group, dtype) for group in groups),
        tuple(read for read in plan if read.first_row not in chosen),
    )


def read_lone(arena: KeyValueArena, layer: int, query: Tensor, group: LoneRows) -> Tensor:
    """query (N, Hkv, G, D) of all rows of the step -> attention (R, Hkv, G, D) of the group's."""
    keys, values = arena.gather(layer, group.positions)
    return read_part(query[group.rows], keys, values, bias=group.bias).output


def _lone_rows(reads: Sequence[Read], dtype: torch.dtype) -> LoneRows:
    lengths = torch.tensor([read.length for read in reads])[:, None]
    starts = torch.tensor([read.start for read in reads])[:, None]
    columns = torch.arange(reads[-1].length)[None]  # the longest is the last
    bias = torch.zeros(len(reads), columns.shape[1], dtype=dtype).masked_fill_(columns >= lengths, -math.inf)
    return LoneRows(
        torch.tensor([read.first_row for read in reads]),
        starts + torch.minimum(columns, lengths - 1),
        bias[:, None, None],
    )
