"""Multiply with grouped weights on a CPU, compiled by numba: fp32 activations, weights widened in registers.

Weights are stored in tiles of 16 outputs, so that one vector holds the same column of all 16. The vector operations are
explicit instead of left to the compiler. The order of a row's sums therefore depends on the matrix only, not on the
number of rows, the row's index or the threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
"""Number of outputs of a tile."""
GROUP = 32
"""Number of columns that share a scale."""
BITS, CODES, SCALES, MINIMA, BIAS, TILES, GROUPS = range(7)
"""Indices of a matrix's fields in the table (store.py).

The fields are the bits (4 or 8), the offsets of codes, scales, minima and bias (-1 for none), the number of tiles of
outputs, and the number of groups of columns.
"""

HELPER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options for functions that only compiled functions call. They reduce the compile time."""
_INT, _FLOAT, _BYTES = ir.IntType(64), ir.VectorType(ir.FloatType(), LANES), ir.VectorType(ir.IntType(8), LANES)
_WIDE = ir.VectorType(ir.IntType(32), LANES)


def _loaded(builder: Any, data: Any, offset: Any, kind: ir.Type, element: ir.Type) -> Any:
    """Load a value of type ``kind`` from element ``offset`` on, without assuming alignment."""
    at = builder.gep(data, [offset], source_etype=element)
    return builder.load(builder.bitcast(at, kind.as_pointer()), align=1, typ=kind)


def _spread(builder: Any, number: Any) -> Any:
    """Broadcast a number to all lanes."""
    one = builder.insert_element(ir.Constant(_FLOAT, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_FLOAT, ir.Undefined), lanes)


def _fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Compute a b + c, rounded once."""
    kind = ir.FunctionType(_FLOAT, [_FLOAT] * 3)
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f32"), [a, b, c])


def _columns(builder: Any, bits: int, codes: Any, offset: Any) -> list[tuple[int, Any]]:
    """Return each column of a group with the codes of its 16 weights as fp32, in the order of summation."""
    byte = ir.IntType(8)
    out = []
    for j in range(GROUP * bits // 8):
        loaded = _loaded(builder, codes, builder.add(offset, ir.Constant(_INT, j * LANES)), _BYTES, byte)
        if bits == 8:
            out.append((j, builder.sitofp(builder.sext(loaded, _WIDE), _FLOAT)))
            continue
        wide = builder.zext(loaded, _WIDE)
        low = builder.and_(wide, ir.Constant(_WIDE, [15] * LANES))
        high = builder.lshr(wide, ir.Constant(_WIDE, [4] * LANES))
        out += [(j, builder.sitofp(low, _FLOAT)), (j + GROUP // 2, builder.sitofp(high, _FLOAT))]
    return out


def _function(module: Any, bits: int, rows: int) -> Any:
    """Return the function of a tile in a module. All call sites share it without inlining, which compiles faster."""
    number, byte = ir.FloatType(), ir.IntType(8)
    floats = number.as_pointer()
    kinds = [byte.as_pointer(), _INT, floats, _INT, _INT, _INT, floats, _INT, _INT, floats, _INT, floats, _INT, _INT]
    name = f"plumbline_tile_{bits}_{rows}"
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    codes, codes_at, numbers, scales_at, minima_at, groups, x, x_at, x_step, sums, sums_at, out, out_at, out_step = (
        function.args
    )
    zero = ir.Constant(_FLOAT, [0.0] * LANES)
    totals = [cgutils.alloca_once_value(builder, zero) for _ in range(rows)]
    with cgutils.for_range(builder, groups, intp=_INT) as loop:
        g = loop.index
        first = builder.add(codes_at, builder.mul(g, ir.Constant(_INT, GROUP * bits // 8 * LANES)))
        columns = _columns(builder, bits, codes, first)
        lanes = builder.mul(g, ir.Constant(_INT, LANES))
        scale = _loaded(builder, numbers, builder.add(scales_at, lanes), _FLOAT, number)
        minimum = _loaded(builder, numbers, builder.add(minima_at, lanes), _FLOAT, number) if bits == 4 else None
        for r in range(rows):
            row = builder.add(x_at, builder.mul(x_step, ir.Constant(_INT, r)))
            start = builder.add(row, builder.mul(g, ir.Constant(_INT, GROUP)))
            halves = [zero, zero]  # two independent sums
            for turn, (column, weights) in enumerate(columns):
                at = builder.add(start, ir.Constant(_INT, column))
                value = _spread(builder, _loaded(builder, x, at, number, number))
                halves[turn % 2] = _fused(builder, weights, value, halves[turn % 2])
            total = _fused(builder, scale, builder.fadd(*halves), builder.load(totals[r]))
            if minimum is not None:
                mine = builder.add(sums_at, builder.add(builder.mul(groups, ir.Constant(_INT, r)), g))
                total = _fused(builder, minimum, _spread(builder, _loaded(builder, sums, mine, number, number)), total)
            builder.store(total, totals[r])
    for r in range(rows):
        at = builder.add(out_at, builder.mul(out_step, ir.Constant(_INT, r)))
        pointer = builder.bitcast(builder.gep(out, [at], source_etype=number), _FLOAT.as_pointer())
        builder.store(
            builder.fadd(_loaded(builder, out, at, _FLOAT, number), builder.load(totals[r])), pointer, align=1
        )
    builder.ret_void()
    return function


def _tile_of(bits: int, rows: int) -> Any:
    """Create an intrinsic that adds the products of a tile with ``rows`` rows to ``out``.

    It computes out[r * out_step + lane] += sum_i w[lane, i] x[r * x_step + i]. The arrays are contiguous, and each
    ``_at`` is the offset of the part for the tile or the first row.
    """

    @intrinsic
    def tile(  # type: ignore[no-untyped-def]
        typing,
        codes,
        codes_at,
        numbers,
        scales_at,
        minima_at,
        groups,
        x,
        x_at,
        x_step,
        sums,
        sums_at,
        out,
        out_at,
        out_step,
    ):
        offset = types.int64
        signature = types.void(
            codes, offset, numbers, offset, offset, offset, x, offset, offset, sums, offset, out, offset, offset
        )

        def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            kinds, given = signature.args, list(arguments)
            for i in (0, 2, 6, 9, 11):
                given[i] = context.make_array(kinds[i])(context, builder, arguments[i]).data
            builder.call(_function(builder.module, bits, rows), given)
            return context.get_dummy_value()

        return signature, build

    return tile


_four_bits_one, _four_bits_four = _tile_of(4, 1), _tile_of(4, 4)
_eight_bits_one, _eight_bits_four = _tile_of(8, 1), _tile_of(8, 4)


@njit(**HELPER)  # type: ignore[untyped-decorator]
def add_tile(codes: Any, numbers: Any, matrix: Any, tile: int, x: Any, sums: Any, out: Any, begin: int) -> None:
    """Add the products of one tile with x (R, I) to columns begin : begin + 16 of ``out``.

    matrix: (7), its fields in the table. sums: (R, I / 32), sums of the groups of x.
    """
    rows, groups = x.shape[0], matrix[GROUPS]
    scales, minima = matrix[SCALES] + tile * groups * 16, matrix[MINIMA] + tile * groups * 16
    wide, width = x.shape[1], out.shape[1]
    fours = rows // 4 * 4
    if matrix[BITS] == 4:
        at = matrix[CODES] + tile * groups * 256
        for r in range(0, fours, 4):
            _four_bits_four(
                codes,
                at,
                numbers,
                scales,
                minima,
                groups,
                x,
                r * wide,
                wide,
                sums,
                r * groups,
                out,
                r * width + begin,
                width,
            )
        for r in range(fours, rows):
            _four_bits_one(
                codes,
                at,
                numbers,
                scales,
                minima,
                groups,
                x,
                r * wide,
                wide,
                sums,
                r * groups,
                out,
                r * width + begin,
                width,
            )
    else:
        at = matrix[CODES] + tile * groups * 512
        for r in range(0, fours, 4):
            _eight_bits_four(
                codes,
                at,
                numbers,
                scales,
                minima,
                groups,
                x,
                r * wide,
                wide,
                sums,
                r * groups,
                out,
                r * width + begin,
                width,
            )
        for r in range(fours, rows):
            _eight_bits_one(
                codes,
                at,
                numbers,
                scales,
                minima,
                groups,
                x,
                r * wide,
                wide,
                sums,
                r * groups,
                out,
                r * width + begin,
                width,
            )


@njit(**HELPER)  # type: ignore[untyped-decorator]
def begin_tile(numbers: Any, matrix: Any, tile: int, out: Any, begin: int) -> None:
    """Set columns begin : begin + 16 of ``out`` to the bias of a tile, or to 0 without a bias."""
    bias = matrix[BIAS]
    for r in range(out.shape[0]):
        for lane in range(16):
            out[r, begin + lane] = np.float32(0) if bias < 0 else numbers[bias + tile * 16 + lane]


@njit(**HELPER)  # type: ignore[untyped-decorator]
def add_bias(numbers: Any, matrix: Any, out: Any) -> None:
    """Add the bias of a matrix, if there is one, to out (R, O)."""
    if matrix[BIAS] >= 0:
        for r in range(out.shape[0]):
            for o in range(out.shape[1]):
                out[r, o] += numbers[matrix[BIAS] + o]


@njit(**HELPER)  # type: ignore[untyped-decorator]
def sum_groups(x: Any, sums: Any) -> None:
    """Write the sum of each group of columns of x (R, I) to sums (R, I / 32)."""
    for r in range(sums.shape[0]):
        for g in range(sums.shape[1]):
            total = np.float32(0)
            for j in range(32):
                total += x[r, g * 32 + j]
            sums[r, g] = total
