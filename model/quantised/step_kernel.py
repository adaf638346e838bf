"""Run one decoding step of a Llama-like decoder in one compiled call: norms, products, rotation, attention, SwiGLU.

All numbers are fp32 from the embedding to the final norm. Keys and values are stored in the arena's dtype. A row's
results do not depend on the rest of the batch, because products (kernel.py) and attention (row_kernel.py) do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange, types
from numba.extending import overload

from model.engine_state.row_kernel import exp_of_negative, read_row
from model.quantised.compiling import CachedKernel
from model.quantised.kernel import HELPER, TILES, add_bias, add_tile, begin_tile, sum_groups

QKV, OUT, GATE, UP, DOWN = range(5)
"""Indices of a layer's matrices in the table."""
FIRST_NORM, SECOND_NORM, QUERY_NORM, KEY_NORM, ROTATED, WINDOW = range(6)
"""Indices of a layer's other fields.

The fields are offsets of its norms (-1 for none), 1 if queries and keys are rotated, and the index of its read plan.
"""
_PROJECT, _ATTEND, _MERGE, _WIDEN, _NARROW = range(5)  # phases of a layer, in order

_REORDERED = {"reassoc", "contract", "nsz"}  # allows to reorder sums, which are within one row


def _narrowed(number: Any, like: Any) -> Any:
    """Convert fp32 to the arena's type: fp32, or the bits of bf16 (rounded to nearest, ties to even)."""


# numba's decorators and the functions that they return are untyped.
@overload(_narrowed, strict=False)  # type: ignore[untyped-decorator]
def _narrowed_by_type(number: Any, like: Any) -> Any:
    if like.dtype == types.uint16:

        def narrow(number: Any, like: Any) -> Any:
            bits = np.float32(number).view(np.uint32)
            if number != number:
                return np.uint16(0x7FC0)
            return np.uint16((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16))

        return narrow
    return lambda number, like: number


@njit(fastmath=_REORDERED, **HELPER)  # type: ignore[untyped-decorator]
def _normed(x: Any, weight: Any, eps: Any, out: Any) -> None:
    """Write x (E) / sqrt(mean(x^2) + eps) * weight to ``out`` (Zhang and Sennrich 2019, eq. 4)."""
    total = np.float32(0)
    for i in range(x.shape[0]):
        total += x[i] * x[i]
    factor = np.float32(1) / np.sqrt(total / np.float32(x.shape[0]) + eps)
    for i in range(x.shape[0]):
        out[i] = x[i] * factor * weight[i]


@njit(**HELPER)  # type: ignore[untyped-decorator]
def _normed_rows(x: Any, numbers: Any, begin: int, eps: Any, out: Any) -> None:
    weight = numbers[begin : begin + x.shape[1]]
    for r in range(x.shape[0]):
        _normed(x[r], weight, eps, out[r])


@njit(**HELPER)  # type: ignore[untyped-decorator]
def _turned(head: Any, cosine: Any, sine: Any, out: Any) -> None:
    """Write head (D), rotated by the angles of a model.decoder.rotary.Rotation, to ``out``."""
    half = head.shape[0] // 2
    for d in range(half):
        out[d] = head[d] * cosine[d] + head[d + half] * sine[d]
        out[d + half] = head[d + half] * cosine[d + half] + head[d] * sine[d + half]


@njit(**HELPER)  # type: ignore[untyped-decorator]
def _queries_and_keys(
    qkv: Any,
    numbers: Any,
    layer: Any,
    cosines: Any,
    sines: Any,
    eps: Any,
    slots: Any,
    query: Any,
    keys: Any,
    values: Any,
) -> None:
    """Split qkv (R, >= (H + 2 Hkv) D) into query (R, Hkv, G, D), and keys and values (S, Hkv, D) at ``slots`` (R).

    Queries and keys are normed and rotated as the layer requires.
    """
    rows, kv_heads, group, dim = query.shape
    heads = kv_heads * group
    turned = np.empty(dim, np.float32)
    for r in range(rows):
        for head in range(heads + kv_heads):
            part = qkv[r, head * dim : (head + 1) * dim]
            norm = layer[QUERY_NORM] if head < heads else layer[KEY_NORM]
            if norm >= 0:
                _normed(part, numbers[norm : norm + dim], eps, part)
            if layer[ROTATED]:
                _turned(part, cosines[r], sines[r], turned)
            else:
                for d in range(dim):
                    turned[d] = part[d]
            if head < heads:
                for d in range(dim):
                    query[r, head // group, head % group, d] = turned[d]
            else:
                for d in range(dim):
                    keys[slots[r], head - heads, d] = _narrowed(turned[d], keys)
        for head in range(kv_heads):
            begin = (heads + kv_heads + head) * dim
            for d in range(dim):
                values[slots[r], head, d] = _narrowed(qkv[r, begin + d], values)


@njit(fastmath={"contract", "nsz"}, **HELPER)  # type: ignore[untyped-decorator]
def _gated(gates: Any, begin: int, second: int, out: Any) -> None:
    """Write silu(gate) * up of a tile to columns begin : begin + 16 of out (R, I).

    gates: (R, 2 I), with gate from column ``begin`` on and up from column ``second`` on.
    """
    for r in range(out.shape[0]):
        for lane in range(16):
            gate, up = gates[r, begin + lane], gates[r, second + lane]
            small = exp_of_negative(-abs(gate))
            share = np.float32(1) if gate >= 0 else small
            out[r, begin + lane] = gate * share / (np.float32(1) + small) * up


def _step(
    hidden: Any,
    codes: Any,
    numbers: Any,
    matrices: Any,
    layers: Any,
    final_norm: int,
    eps: Any,
    keys: Any,
    values: Any,
    slots: Any,
    cosines: Any,
    sines: Any,
    ranges: Any,
    offsets: Any,
    order: Any,
    dims: Any,
) -> None:
    rows, width = hidden.shape
    kv_heads, dim = keys.shape[2], 4 * len(dims)
    heads = matrices[0, OUT, 6] * 32 // dim
    inner = matrices[0, DOWN, 6] * 32
    normed, sums = np.empty((rows, width), np.float32), np.empty((rows, width // 32), np.float32)
    qkv = np.empty((rows, matrices[0, QKV, TILES] * 16), np.float32)
    query = np.empty((rows, kv_heads, heads // kv_heads, dim), np.float32)
    attended, attended_sums = np.empty((rows, heads * dim), np.float32), np.empty((rows, heads * dim // 32), np.float32)
    read = attended.reshape((rows, kv_heads, heads // kv_heads, dim))
    gates, inside = np.empty((rows, 2 * inner), np.float32), np.empty((rows, inner), np.float32)
    inside_sums = np.empty((rows, inner // 32), np.float32)
    scale = np.float32(1) / np.sqrt(np.float32(dim))
    for turn in range(5 * layers.shape[0]):
        layer, phase = turn // 5, turn % 5
        fields, table, layer_keys, layer_values = layers[layer], matrices[layer], keys[layer], values[layer]
        tasks = rows * kv_heads
        if phase == _PROJECT:
            _normed_rows(hidden, numbers, fields[FIRST_NORM], eps, normed)
            sum_groups(normed, sums)
            tasks = table[QKV, TILES]
        elif phase == _ATTEND:
            _queries_and_keys(qkv, numbers, fields, cosines, sines, eps, slots, query, layer_keys, layer_values)
        elif phase == _MERGE:
            sum_groups(attended, attended_sums)
            add_bias(numbers, table[OUT], hidden)
            tasks = table[OUT, TILES]
        elif phase == _WIDEN:
            _normed_rows(hidden, numbers, fields[SECOND_NORM], eps, normed)
            sum_groups(normed, sums)
            tasks = table[GATE, TILES]
        else:
            sum_groups(inside, inside_sums)
            add_bias(numbers, table[DOWN], hidden)
            tasks = table[DOWN, TILES]
        # One parallel loop for all phases, because each loop takes seconds to compile.
        for task in prange(tasks):
            if phase == _ATTEND:
                row, head = order[fields[WINDOW], task // kv_heads], task % kv_heads
                mine = ranges[offsets[fields[WINDOW], row] : offsets[fields[WINDOW], row + 1]]
                read_row(query, layer_keys, layer_values, mine, row, head, dims, scale, read)
            elif phase == _PROJECT:
                begin_tile(numbers, table[QKV], task, qkv, task * 16)
                add_tile(codes, numbers, table[QKV], task, normed, sums, qkv, task * 16)
            elif phase == _MERGE:
                add_tile(codes, numbers, table[OUT], task, attended, attended_sums, hidden, task * 16)
            elif phase == _WIDEN:
                second = inner + task * 16
                begin_tile(numbers, table[GATE], task, gates, task * 16)
                begin_tile(numbers, table[UP], task, gates, second)
                add_tile(codes, numbers, table[GATE], task, normed, sums, gates, task * 16)
                add_tile(codes, numbers, table[UP], task, normed, sums, gates, second)
                _gated(gates, task * 16, second, inside)
            else:
                add_tile(codes, numbers, table[DOWN], task, inside, inside_sums, hidden, task * 16)
    _normed_rows(hidden, numbers, final_norm, eps, hidden)


def _product(x: Any, codes: Any, numbers: Any, matrix: Any, out: Any) -> None:
    sums = np.empty((x.shape[0], x.shape[1] // 32), np.float32)
    sum_groups(x, sums)
    for tile in prange(matrix[TILES]):
        begin_tile(numbers, matrix, tile, out, tile * 16)
        add_tile(codes, numbers, matrix, tile, x, sums, out, tile * 16)


decode_step = CachedKernel(_step)
"""Kernel of a decoding step.

It replaces the embeddings in hidden (R, E) by the final hidden states, and stores the keys and values of the rows.
Arguments: hidden, codes, numbers, matrices, layers, final_norm, eps, keys, values, slots, cosines, sines, ranges,
offsets, order, dims. matrices (L, 5, 7) and layers (L, 6): the table. keys, values (L, S, Hkv, D): the arena. slots
(R): arena positions of the rows. cosines, sines: (R, D). ranges (N, 2), offsets (W, R + 1), order (W, R): W read plans;
row r of plan w reads ranges[offsets[w, r] : offsets[w, r + 1]]. dims: a tuple of D / 4 zeros.
"""
product = CachedKernel(_product)
"""Kernel of one product: it writes x (R, I) times a matrix, plus its bias, to out (R, tiles * 16).

Arguments: x, codes, numbers, matrix, out.
"""
