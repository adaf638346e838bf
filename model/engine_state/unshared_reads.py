"""Rows without shared keys, all in one call on a CPU: the compiled kernel of row_kernel.py.

Through torch's fused kernel such a row takes some 120 us a layer one by one (bf16, 350 positions, two cores), mostly
overhead, and 65 in groups of eight whose keys are first copied side by side; through this one 20 to 25.
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

# Without OpenMP, numba's own threads serve one caller at a time.
ONE_AT_A_TIME = Lock()


@dataclass(frozen=True, slots=True)
class UnsharedReads:
    """rows (R) of a step; row r of them reads ranges[offsets[r] : offsets[r + 1]], each (start, length).

    order (R): order of assignment to threads. every: they are all rows of the step, in order.
    """

    rows: Tensor
    ranges: NDArray[np.int64]
    offsets: NDArray[np.int64]
    order: NDArray[np.int64]
    every: bool


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """A step's reads: those of unshared rows, if any, and the others."""

    unshared: UnsharedReads | None
    others: tuple[CacheRead, ...]


@cache
def _has_kernel() -> bool:
    try:
        import model.engine_state.row_kernel  # noqa: F401 - numba takes its time: only where many rows are read
    except ImportError:  # numba lags behind new versions of Python and numpy
        return False
    return True


def supports_unshared_reads(arena: KeyValueArena) -> bool:
    """Return whether unshared rows can be read in one call: on a CPU, in bf16 or fp32, D a multiple of 4."""
    keys = arena.keys
    known = keys.dtype in (torch.float32, torch.bfloat16) and keys.shape[-1] % 4 == 0
    return known and keys.device.type == "cpu" and _has_kernel()


def split_plan(plan: Sequence[CacheRead], rows: int, arena: KeyValueArena) -> SplitPlan:
    """Separate those of the step's ``rows`` that share no read, if there are several."""
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
    """rows of a step and the ranges each reads, in order of position; every: they are all rows of the step."""
    flat = np.array([one for of_row in ranges for one in of_row], dtype=np.int64).reshape(-1, 2)
    offsets = np.concatenate(([0], np.cumsum([len(of_row) for of_row in ranges])))
    lengths = np.add.reduceat(flat[:, 1], offsets[:-1])
    return UnsharedReads(torch.tensor(rows), flat, offsets, _dealt(lengths, torch.get_num_threads()), every)


def read_unshared(arena: KeyValueArena, layer: int, query: Tensor, unshared: UnsharedReads) -> Tensor:
    """query (N, Hkv, G, D) of all rows of the step -> attention (R, Hkv, G, D) of the unshared ones."""
    from model.engine_state.row_kernel import read_rows

    mine = (query if unshared.every else query[unshared.rows]).float().contiguous()
    threads = torch.get_num_threads()
    with ONE_AT_A_TIME:
        output = read_rows(
            mine.numpy(), *arena.numbers(layer), unshared.ranges, unshared.offsets, unshared.order, threads
        )
    if torch.get_num_threads() != threads:  # numba's first call sets OpenMP's number of threads for this thread
        torch.set_num_threads(threads)
    return torch.from_numpy(output).to(query.dtype)


def prepare_unshared_reads(arena: KeyValueArena) -> None:
    """Load the kernel for this arena, or compile it (seconds, once on a machine), so that no request waits for it."""
    if supports_unshared_reads(arena):
        heads, dim = arena.keys.shape[2:]
        with torch.inference_mode():
            query = torch.zeros(1, heads, 1, dim, dtype=arena.keys.dtype)
            read_unshared(arena, 0, query, unshared_rows([0], [[(0, 1)]], every=True))


def _dealt(lengths: NDArray[np.int64], threads: int) -> NDArray[np.int64]:
    """Order rows (R) so that equal consecutive pieces have about equal total length: the longest are dealt
    round-robin.
    """
    longest = np.argsort(-lengths, kind="stable")
    return np.concatenate([longest[first::threads] for first in range(threads)])


def ranges_of(reads: Iterable[CacheRead], rows: int) -> list[list[tuple[int, int]]]:
    """Ranges that each of ``rows`` rows reads, in the order of the reads."""
    ranges: list[list[tuple[int, int]]] = [[] for _ in range(rows)]
    for read in reads:
        for index in range(read.rows):
            ranges[read.first_row + index].append((read.start + index * read.stride, read.length))
    return ranges
