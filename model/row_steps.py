"""Interfaces of decoding steps that compute each row independently: the step, and the state it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True, slots=True)
class RowReads:
    """Row r of a step reads ranges[offsets[r] : offsets[r + 1]], each (start, length), including the new position.

    ranges (N, 2), offsets (R + 1), order (R): order of assignment to threads.
    """

    ranges: NDArray[np.int64]
    offsets: NDArray[np.int64]
    order: NDArray[np.int64]


class RowState(Protocol):
    """Locations of the keys and values of a step's rows, on a CPU."""

    @property
    def slots(self) -> Tensor:
        """(N): the position for each row's next key and value."""
        ...

    def positions(self, steps: int) -> Tensor:
        """(N, 1): position of each row's new token. Raises ModelError past the last position."""
        ...

    def row_reads(self, window: int | None) -> RowReads:
        """Return what each row reads; window: its last positions only."""
        ...

    def numbers(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Keys and values (L, S, Hkv, D) in place: fp32, or the bits of bf16 as uint16."""
        ...

    def advance(self, steps: int) -> None:
        """Advance every row by so many positions."""
        ...


class RowSteps(Protocol):
    """Decoding steps by another path than ``Decoder.forward``, in which rows are independent (model/quantised)."""

    def hidden(self, tokens: Tensor, state: RowState) -> Tensor:
        """tokens (N, 1) -> final hidden states (N, E); advances the state by one step."""
        ...
