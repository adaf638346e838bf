"""Interfaces of decoding steps that compute each row independently: the step, and the state it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True, slots=True)
class RowReads:
    """Cache slots that each row of a step reads, including the slot of the row's new position.

    Row r reads the ranges ``ranges[offsets[r] : offsets[r + 1]]``. ranges: (N, 2), (start, length) of each range.
    offsets: (R + 1). order: (R), the order in which rows are assigned to threads.
    """

    ranges: NDArray[np.int64]
    offsets: NDArray[np.int64]
    order: NDArray[np.int64]


class RowState(Protocol):
    """Locations of the keys and values of a step's rows, on a CPU."""

    @property
    def slots(self) -> Tensor:
        """Cache slot for each row's next key and value: (N)."""
        ...

    def positions(self, steps: int) -> Tensor:
        """Return the position of each row's new token: (N, 1). Raises ModelError past the last position."""
        ...

    def row_reads(self, window: int | None) -> RowReads:
        """Return the slots that each row reads. window: number of last positions to read; None reads all."""
        ...

    def numbers(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the keys and the values without copying: (L, S, Hkv, D), fp32, or the bits of bf16 as uint16."""
        ...

    def advance(self, steps: int) -> None:
        """Advance every row by ``steps`` positions."""
        ...


class RowSteps(Protocol):
    """An alternative to ``Decoder.forward`` for decoding steps, in which rows are independent (model/quantised)."""

    def hidden(self, tokens: Tensor, state: RowState) -> Tensor:
        """Return the final hidden states (N, E) of tokens (N, 1), and advance the state by one step."""
        ...
