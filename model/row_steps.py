"""Interfaces of decoding steps that compute each row by itself: the step, and the state it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True, slots=True)
class RowReads:
    """Row r of a step reads ranges[offsets[r] : offsets[r + 1]], each (start, length), the new position included.

    ranges (N, 2), offsets (R + 1), order (R): in which order rows are given to threads.
    """

    ranges: NDArray[np.int64]
    offsets: NDArray[np.int64]
    order: NDArray[np.int64]


class RowState(Protocol):
    """Where the keys and values of a step's rows lie, on a CPU."""

    @property
    def slots(self) -> Tensor:
        """(N): the position that each row's next key and value go to."""
        ...

    def positions(self, steps: int) -> Tensor:
        """(N, 1): where each row's new token stands. Raises ModelError past the last position."""
        ...

    def row_reads(self, window: int | None) -> RowReads:
        """What each row reads; window: of its last positions only."""
        ...

    def numbers(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Keys and values (L, S, Hkv, D) in place: fp32, or the bits of bf16 as uint16."""
        ...

    def advance(self, steps: int) -> None:
        """Every row stands so many positions further."""
        ...


class RowSteps(Protocol):
    """Decoding steps by another path than ``Decoder.forward``, in which a row's numbers do not depend on the others
    (model/quantised)."""

    def hidden(self, tokens: Tensor, state: RowState) -> Tensor:
        """tokens (N, 1) -> final hidden states (N, E); the state is one step further then."""
        ...
