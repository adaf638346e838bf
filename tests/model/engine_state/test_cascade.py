"""Attention in parts: each part by its definition, merged parts equal to one read of everything."""

from __future__ import annotations

import math

import pytest
import torch

from model.engine_state.cascade import merge, merge_invariant, read_part, read_part_invariant, read_part_written_out


def tensors(heads: int, kv_heads: int, steps: int, length: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(heads * 100 + steps)
    query = torch.randn(2, heads, steps, 8, generator=random)
    keys = torch.randn(2, kv_heads, length, 8, generator=random)
    return query, keys, torch.randn(2, kv_heads, length, 8, generator=random)


@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 4), (6, 2), (3, 1)])
@pytest.mark.parametrize("causal", [False, True])
def test_the_fused_read_is_the_definition(heads: int, kv_heads: int, causal: bool) -> None:
    query, keys, values = tensors(heads, kv_heads, 7 if causal else 3, 7)
    fused = read_part(query, keys, values, causal=causal)
    plain = read_part_written_out(query, keys, values, causal=causal)
    torch.testing.assert_close(fused.output, plain.output, atol=2e-6, rtol=1e-5)
    torch.testing.assert_close(fused.log_sum, plain.log_sum, atol=2e-6, rtol=1e-5)


def test_a_mask_leaves_columns_out() -> None:
    query, keys, values = tensors(4, 2, 3, 9)
    mask = torch.ones(3, 9, dtype=torch.bool)
    mask[:, 5:] = False
    for read in (read_part, read_part_written_out):
        masked, short = read(query, keys, values, mask), read(query, keys[:, :, :5], values[:, :, :5])
        torch.testing.assert_close(masked.output, short.output, atol=2e-6, rtol=1e-5)
        torch.testing.assert_close(masked.log_sum, short.log_sum, atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("joined", [merge, merge_invariant])
def test_merged_parts_are_one_read_in_any_order(joined: type) -> None:
    query, keys, values = tensors(6, 2, 3, 20)
    keys = keys * 6  # sharp: one part holds nearly all of some row's weight
    full = read_part_written_out(query, keys, values)
    parts = [read_part(query, keys[:, :, a:b], values[:, :, a:b]) for a, b in ((0, 1), (1, 12), (12, 20))]
    for order in ((0, 1, 2), (2, 0, 1)):
        merged = joined(joined(parts[order[0]], parts[order[1]]), parts[order[2]])
        torch.testing.assert_close(merged.output, full.output, atol=5e-6, rtol=1e-5)
        torch.testing.assert_close(merged.log_sum, full.log_sum, atol=5e-6, rtol=1e-5)


def test_a_part_of_no_weight_changes_nothing() -> None:
    query, keys, values = tensors(2, 2, 1, 4)
    part = read_part(query, keys, values)
    far = read_part(query * 0 + 1, keys * 0 - 1000 / math.sqrt(8), values)
    for joined in (merge, merge_invariant):
        assert torch.equal(joined(part, far).output, part.output)


# Every pair of values meets at least once: 12 cases in place of 48.
ALIKE = [
    (1 + (shape + place) % 2, (1, 3)[(shape // 2 + place) % 2], length, *sizes)
    for shape, sizes in enumerate(((4, 3), (16, 1), (7, 3), (3, 16)))
    for place, length in enumerate((5, 40, 300))
]


@pytest.mark.serial
@pytest.mark.parametrize(("threads", "heads", "length", "rows", "group"), ALIKE)
def test_alike_a_row_is_the_same_alone_and_at_every_place(
    threads: int, heads: int, length: int, rows: int, group: int
) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        generator = torch.Generator().manual_seed(length)
        query = torch.randn(rows, heads, group, 16, generator=generator)
        keys, values = torch.randn(2, 1, heads, length, 16, generator=generator).unbind(0)
        separate = read_part_invariant(query, keys.expand(rows, -1, -1, -1), values.expand(rows, -1, -1, -1))
        together = read_part_invariant(query, keys, values)  # queries of several rows in one block
        for row in range(rows):
            alone = read_part_invariant(query[row : row + 1], keys, values)
            for found in (separate, together):
                assert torch.equal(alone.output[0], found.output[row])
                assert torch.equal(alone.log_sum[0], found.log_sum[row])
        plain = read_part_written_out(query, keys.expand(rows, -1, -1, -1), values.expand(rows, -1, -1, -1))
    finally:
        torch.set_num_threads(before)
    torch.testing.assert_close(together.output, plain.output, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(together.log_sum, plain.log_sum, atol=1e-5, rtol=1e-5)
