"""Read all rows without shared keys in one call on a CPU, with the compiled kernel of row_kernel.py.

A row of 350 positions in bf16 takes 20 to 25 us per layer on two cores. One call of torch's fused kernel per row takes
120 us, mostly overhead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.engine_state.arena import KeyValueArena
from model.engine_state.reads import CacheRead

# numba's own threads, which are used without OpenMP, serve one caller at a time.
ONE_AT_A_TIME = Lock()


@dataclass(frozen=True, slots=True)
class UnsharedReads:
    """Rows of a step that share no keys, and the ranges that they read.

    rows: (R), indices of the rows. Row rows[r] reads ranges[offsets[r] : offsets[r + 1]], each (start, length). order:
    (R), the order in which rows are assigned to threads. every: whether these are all rows of the step, in order.
    """

    rows: Tensor
    ranges: NDArray[np.int64]
    offsets: NDArray[np.int64]
    order: NDArray[np.int64]
    every: bool


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """The reads of a step. unshared: those of rows without shared keys, or None. others: the remaining reads."""

    unshared: UnsharedReads | None
    others: tuple[CacheRead, ...]


@cache
def _has_kernel() -> bool:
    try:
        import model.engine_state.row_kernel  # noqa: F401 - imported here because numba is slow to import
    except ImportError:  # numba lags behind new versions of Python and numpy
        return False
    return True


def supports_unshared_reads(arena: KeyValueArena) -> bool:
    """Return whether unshared rows can be read in one call.

    This needs a CPU, numba, bf16 or fp32, and D divisible by 4.
    """
    keys = arena.keys
    known = keys.dtype in (torch.float32, torch.bfloat16) and keys.shape[-1] % 4 == 0
    return known and keys.device.type == "cpu" and _has_kernel()


def split_plan(plan: Sequence[CacheRead], rows: int, arena: KeyValueArena) -> SplitPlan:
    """Separate the reads of rows that share none, if there are several such rows. rows: number of rows of the step."""
    reads_of: dict[int, list[CacheRead]] = defaultdict(list)
    shares: set[int] = set()
    for read in plan:
        for row in range(read.first_row, read.first_row + read.rows):
            reads_of[row].append(read)
            if read.rows > 1:
                shares.add(row)
    unshared = [row for row in range(rows) if row not in shares]
    if len(unshared) < 2 or not supports_unshared_reads(arena):
        return SplitPlan(None, tuple(plan))
    ranges = [[(read.start, read.length) for read in reads_of[row]] for row in unshared]
    return SplitPlan(
        unshared_rows(unshared, ranges, every=len(unshared) == rows),
        tuple(read for read in plan if read.first_row in shares),
    )


def unshared_rows(rows: Sequence[int], ranges: Sequence[Sequence[tuple[int, int]]], *, every: bool) -> UnsharedReads:
    """Create UnsharedReads. ranges: (start, length) pairs that each row reads, in order of position."""
    flat = np.array([one for of_row in ranges for one in of_row], dtype=np.int64).reshape(-1, 2)
    offsets = np.concatenate(([0], np.cumsum([len(of_row) for of_row in ranges])))
    lengths = np.add.reduceat(flat[:, 1], offsets[:-1])
    return UnsharedReads(torch.tensor(rows), flat, offsets, _deal_rows(lengths, torch.get_num_threads()), every)


def read_unshared(arena: KeyValueArena, layer: int, query: Tensor, unshared: UnsharedReads) -> Tensor:
    """Return the attention (R, Hkv, G, D) of the unshared rows. query: (N, Hkv, G, D), of all rows of the step."""
    from model.engine_state.row_kernel import read_rows

    rows_query = (query if unshared.every else query[unshared.rows]).float().contiguous()
    threads = torch.get_num_threads()
    with ONE_AT_A_TIME:
        output = read_rows(
            rows_query.numpy(), *arena.numbers(layer), unshared.ranges, unshared.offsets, unshared.order, threads
        )
    if torch.get_num_threads() != threads:  # numba's first call changes OpenMP's number of threads
        torch.set_num_threads(threads)
    return torch.from_numpy(output).to(query.dtype)


def prepare_unshared_reads(arena: KeyValueArena) -> None:
    """Load the kernel for this arena, or compile it (seconds, once per machine), so that no request waits for it."""
    if supports_unshared_reads(arena):
        heads, dim = arena.keys.shape[2:]
        with torch.inference_mode():
            query = torch.zeros(1, heads, 1, dim, dtype=arena.keys.dtype)
            read_unshared(arena, 0, query, unshared_rows([0], [[(0, 1)]], every=True))


def _deal_rows(lengths: NDArray[np.int64], threads: int) -> NDArray[np.int64]:
    """Return an order of the rows (R) whose equal consecutive pieces have about the same total length.

    Rows are dealt round-robin to the threads, longest first.
    """
    longest = np.argsort(-lengths, kind="stable")
    return np.concatenate([longest[first::threads] for first in range(threads)])


def ranges_of(reads: Iterable[CacheRead], rows: int) -> list[list[tuple[int, int]]]:
    """Return the (start, length) ranges that each of ``rows`` rows reads, in the order of the reads."""
    ranges: list[list[tuple[int, int]]] = [[] for _ in range(rows)]
    for read in reads:
        for index in range(read.rows):
            ranges[read.first_row + index].append((read.start + index * read.stride, read.length))
    return ranges
