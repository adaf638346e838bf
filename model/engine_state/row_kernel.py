"""Single-query attention over ranges of an arena, on a CPU: one pass over the keys, compiled by numba.

One thread reads a row in place, from its first position to its last, so that the result depends neither on the rest of
the batch nor on the number of threads. Copying keys for a kernel that handles blocks of queries takes three to four
times as long (docs/engine.md).
"""

from __future__ import annotations

import logging
from typing import Any

import numba
import numpy as np
from numba import njit, prange, types
from numba.extending import overload
from numpy.typing import NDArray

_LOG = logging.getLogger(__name__)
_BLOCK = 64  # positions per step of the running softmax
# The compiler may reorder sums into vector lanes, always in the same way. NaN and infinity are kept, so that damaged
# weights are detected.
_REORDERED = {"reassoc", "contract", "nsz"}
_LOWEST = np.float32(-3e38)
# With "omp", numba uses the libgomp that torch has loaded, so that both share one set of threads.
numba.config.THREADING_LAYER_PRIORITY = ["omp", "tbb", "workqueue"]


def _widened(number: Any) -> Any:
    """Convert bf16 (its 16 bits) or fp32 to fp32."""


# numba's decorators and the functions that they return are untyped.
@overload(_widened, strict=False)  # type: ignore[untyped-decorator]
def _widened_by_type(number: Any) -> Any:
    if number == types.uint16:
        return lambda number: np.uint32(np.uint32(number) << np.uint32(16)).view(np.float32)
    return lambda number: number


@njit(fastmath=_REORDERED, inline="always")  # type: ignore[untyped-decorator]
def exp_of_negative(x: Any) -> Any:
    """Return exp(x) in fp32 for x <= 0, and exp(-87) for x < -87.

    The largest measured error is 4.5 units in the last place. After Cephes, expf.c (Moshier 1989).
    """
    x = np.float32(-87.0) if x < np.float32(-87.0) else x
    n = np.floor(x * np.float32(1.44269504088896341) + np.float32(0.5))
    r = x - n * np.float32(0.693359375) - n * np.float32(-2.12194440e-4)
    y = np.float32(1.9875691500e-4)
    y = y * r + np.float32(1.3981999507e-3)
    y = y * r + np.float32(8.3334519073e-3)
    y = y * r + np.float32(4.1665795894e-2)
    y = y * r + np.float32(1.6666665459e-1)
    y = y * r + np.float32(5.0000001201e-1)
    y = y * r * r + r + np.float32(1.0)
    return y * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)


@njit(fastmath=_REORDERED)  # type: ignore[untyped-decorator]
def read_row(
    query: Any, keys: Any, values: Any, ranges: Any, row: int, head: int, dims: Any, scale: np.float32, output: Any
) -> None:
    """Compute the attention of one row and key head, and write it to ``output``. See ``read_rows``."""
    group, dim = query.shape[2], 4 * len(dims)
    q = np.empty((group, dim), np.float32)
    total = np.zeros(group, np.float32)
    top = np.full(group, _LOWEST, np.float32)
    summed = np.zeros((group, dim), np.float32)
    share = np.empty((group, _BLOCK), np.float32)
    for g in range(group):
        for d in range(dim):
            q[g, d] = query[row, head, g, d] * scale
    for part in range(ranges.shape[0]):
        for first in range(0, ranges[part, 1], _BLOCK):
            count = min(_BLOCK, ranges[part, 1] - first)
            base = ranges[part, 0] + first
            fours = count // 4 * 4
            # Four positions at a time, because their sums are independent.
            for t in range(0, fours, 4):
                for g in range(group):
                    s0 = s1 = s2 = s3 = np.float32(0)
                    for d in range(dim):
                        s0 += q[g, d] * _widened(keys[base + t, head, d])
                        s1 += q[g, d] * _widened(keys[base + t + 1, head, d])
                        s2 += q[g, d] * _widened(keys[base + t + 2, head, d])
                        s3 += q[g, d] * _widened(keys[base + t + 3, head, d])
                    share[g, t], share[g, t + 1], share[g, t + 2], share[g, t + 3] = s0, s1, s2, s3
            for t in range(fours, count):
                for g in range(group):
                    s0 = np.float32(0)
                    for d in range(dim):
                        s0 += q[g, d] * _widened(keys[base + t, head, d])
                    share[g, t] = s0
            for g in range(group):
                best = top[g]
                for t in range(count):
                    best = share[g, t] if share[g, t] > best else best
                shrink = exp_of_negative(top[g] - best)
                top[g] = best
                part_sum = np.float32(0)
                for t in range(count):
                    e = exp_of_negative(share[g, t] - best)
                    share[g, t] = e
                    part_sum += e
                total[g] = total[g] * shrink + part_sum
                for d in range(dim):
                    summed[g, d] *= shrink
            for t in range(0, fours, 4):
                for g in range(group):
                    p0, p1, p2, p3 = share[g, t], share[g, t + 1], share[g, t + 2], share[g, t + 3]
                    for d in range(dim):
                        near = p0 * _widened(values[base + t, head, d]) + p1 * _widened(values[base + t + 1, head, d])
                        far = p2 * _widened(values[base + t + 2, head, d]) + p3 * _widened(
                            values[base + t + 3, head, d]
                        )
                        summed[g, d] += near + far
            for t in range(fours, count):
                for g in range(group):
                    p0 = share[g, t]
                    for d in range(dim):
                        summed[g, d] += p0 * _widened(values[base + t, head, d])
    for g in range(group):
        share_of_one = np.float32(1) / total[g]
        for d in range(dim):
            output[row, head, g, d] = summed[g, d] * share_of_one


def _read_every_row(
    query: Any, keys: Any, values: Any, ranges: Any, offsets: Any, order: Any, dims: Any, scale: np.float32, output: Any
) -> None:
    heads = keys.shape[1]
    for task in prange(order.shape[0] * heads):
        row, head = order[task // heads], task % heads
        read_row(query, keys, values, ranges[offsets[row] : offsets[row + 1]], row, head, dims, scale, output)


def _compiled(*, kept: bool) -> Any:
    """Compile the kernel, which takes seconds.

    kept: whether to cache it on disk for other processes, next to this file or in the user's cache folder.
    """
    try:
        return njit(parallel=True, nogil=True, cache=kept)(_read_every_row)
    except RuntimeError:  # neither folder is writable
        return njit(parallel=True, nogil=True)(_read_every_row)


_kernel = _compiled(kept=True)
_unkept: Any = None


def read_rows(
    query: NDArray[np.float32],
    keys: NDArray[np.uint16] | NDArray[np.float32],
    values: NDArray[np.uint16] | NDArray[np.float32],
    ranges: NDArray[np.int64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    threads: int,
) -> NDArray[np.float32]:
    """Return the attention (R, Hkv, G, D) of each row over its ranges of the arena. All arrays are contiguous.

    query: (R, Hkv, G, D), with D a multiple of 4. keys, values: (S, Hkv, D), fp32 or the bits of bf16. Row r reads
    ranges[offsets[r] : offsets[r + 1]], each (start, length). order: (R), the order in which rows are assigned to the
    ``threads``, in equal pieces. softmax(q k / sqrt(D)) v is computed as a running softmax (Milakov and Gimelshein
    2018, algorithm 3), with all sums in fp32.
    """
    global _kernel, _unkept
    output = np.empty_like(query)
    dim = query.shape[3]
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    # D is passed as the length of a tuple, which is known at compile time: loops over D can then be unrolled.
    given = (query, keys, values, ranges, offsets, order, (0,) * (dim // 4), np.float32(dim**-0.5), output)
    kernel = _kernel  # another thread may replace it during the call
    try:
        kernel(*given)
    except Exception as error:  # a full disk, or cached files that are truncated or foreign and unpickle to anything
        if kernel is _unkept:
            raise
        _LOG.warning("the compiled attention kernel could not be kept or read (%s): compiled for this process", error)
        _kernel = _unkept = kernel = _compiled(kept=False)
        kernel(*given)
    return output
