"""Rows that read for themselves: as by the definition, nothing that is not theirs, the same bits in any company."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from _pytest.mark import ParameterSet

from model.decoder.config import DecoderConfig
from model.engine_state import row_kernel
from model.engine_state import unshared_reads as module
from model.engine_state.arena import KeyValueArena, bytes_per_position
from model.engine_state.cascade import read_part_written_out
from model.engine_state.ranges import KeyRange
from model.engine_state.reads import CacheRead, RowGroup, plan_reads, plan_separate_reads
from model.engine_state.unshared_reads import (
    _deal_rows,
    prepare_unshared_reads,
    ranges_of,
    read_unshared,
    split_plan,
    supports_unshared_reads,
    unshared_rows,
)


def config(head_dim: int = 4, kv_heads: int = 2, group: int = 2) -> DecoderConfig:
    heads = kv_heads * group
    return DecoderConfig(31, heads * head_dim, 2, heads, kv_heads, head_dim, 24, 4096)


def unshared(start: int, prompt: int, own: int = 1) -> RowGroup:
    return RowGroup(1, (KeyRange(start, prompt),), start + prompt, 40, own)


def spoilt_arena(
    groups: list[RowGroup], total: int = 900, dtype: torch.dtype = torch.float32, shape: DecoderConfig | None = None
) -> KeyValueArena:
    """NaN wherever no row may look."""
    shape = shape or config()
    arena = KeyValueArena(shape, total * bytes_per_position(shape, dtype), dtype=dtype)
    torch.manual_seed(1)
    for stored in (arena.keys, arena.values):
        stored.fill_(torch.nan)
        for group in groups:
            own = KeyRange(group.own_start, (group.rows - 1) * group.own_stride + group.own_length)
            for part in (*group.prompt, own):
                there = stored[:, part.start : part.end]
                there.copy_(torch.randn(there.shape))
    return arena


def by_definition(arena: KeyValueArena, query: torch.Tensor, ranges: list[tuple[int, int]]) -> torch.Tensor:
    """Layer 1; query (Hkv, G, D) -> (Hkv, G, D) in fp32."""
    parts = [arena.view(1, start, 1, 0, length) for start, length in ranges]
    keys, values = (torch.cat(side, dim=2).float() for side in zip(*parts, strict=True))
    heads, group, dim = query.shape
    return read_part_written_out(query.float().reshape(1, heads * group, 1, dim), keys, values).output.view(query.shape)


def of_shape(head_dim: int, kv_heads: int, group: int, dtype: torch.dtype) -> list[ParameterSet]:
    """Without a window and with one. Each shape is compiled by itself, which takes seconds: two are enough here."""
    marks = () if (head_dim, dtype) in ((4, torch.float32), (64, torch.bfloat16)) else pytest.mark.drill
    return [pytest.param(head_dim, kv_heads, group, dtype, window, marks=marks) for window in (None, 7)]


@pytest.mark.parametrize(
    ("head_dim", "kv_heads", "group", "dtype", "window"),
    [
        case
        for dtype in (torch.float32, torch.bfloat16)
        for shape in ((4, 2, 2), (16, 1, 3), (64, 3, 3))
        for case in of_shape(*shape, dtype)
    ],
)
def test_together_as_each_by_the_definition_and_of_ones_own_alone(
    head_dim: int, kv_heads: int, group: int, dtype: torch.dtype, window: int | None
) -> None:
    rng = random.Random(0)
    groups = [unshared(300 * place, rng.randint(1, 290), rng.randint(1, 4)) for place in range(19)]
    arena = spoilt_arena(groups, 6000, dtype, config(head_dim, kv_heads, group))
    plan = plan_reads(groups, window)
    split = split_plan(plan, 19, arena)
    assert not split.others and split.unshared is not None and split.unshared.every
    query = (3 * torch.randn(19, kv_heads, group, head_dim)).to(dtype)
    found = read_unshared(arena, 1, query, split.unshared)
    assert found.dtype == dtype
    for row, ranges in enumerate(ranges_of(plan, 19)):
        expected = by_definition(arena, query[row], ranges)
        loose = {"atol": 3e-6, "rtol": 1e-5} if dtype == torch.float32 else {"atol": 3e-6, "rtol": 2**-8}
        torch.testing.assert_close(found[row].float(), expected, **loose)


def test_rows_that_share_stay_where_they_are_and_rows_in_several_parts_are_read_whole() -> None:
    groups = [
        RowGroup(3, (KeyRange(0, 9),), 100, 10, 2),
        unshared(200, 5),
        RowGroup(1, (KeyRange(300, 4), KeyRange(320, 3)), 340, 9, 1),  # in three parts
        unshared(400, 8),
    ]
    arena = spoilt_arena(groups)
    split = split_plan(plan_reads(groups), 6, arena)
    assert split.unshared is not None and not split.unshared.every
    assert split.unshared.rows.tolist() == [3, 4, 5]
    assert {read.first_row for read in split.others} == {0}
    query = torch.randn(6, 2, 2, 4)
    found = read_unshared(arena, 1, query, split.unshared)
    expected = by_definition(arena, query[4], [(300, 4), (320, 3), (340, 1)])
    torch.testing.assert_close(found[1], expected, atol=1e-6, rtol=1e-5)


@pytest.mark.serial
def test_a_row_gets_the_same_bits_with_any_company_and_any_number_of_threads() -> None:
    rng = random.Random(3)
    groups = [unshared(300 * place, rng.randint(1, 280), rng.randint(1, 9)) for place in range(16)]
    shared = RowGroup(5, (KeyRange(4800, 200),), 5000, 20, 7)
    arena = spoilt_arena([*groups, shared], 6000, torch.bfloat16, config(64, 3, 3))
    query = torch.randn(21, 3, 3, 64).to(torch.bfloat16)
    threads = torch.get_num_threads()

    def read(rows: list[int], plan: tuple[CacheRead, ...]) -> torch.Tensor:
        everything = unshared_rows(range(len(rows)), ranges_of(plan, len(rows)), every=True)
        return read_unshared(arena, 0, query[rows], everything)

    full = read(list(range(21)), plan_separate_reads([*groups, shared]))
    try:
        for number in (1, 2, 3):
            torch.set_num_threads(number)
            assert torch.equal(read(list(range(21)), plan_separate_reads([*groups, shared])), full)
            assert torch.get_num_threads() == number
            for place in (0, 7, 15):
                assert torch.equal(read([place], plan_separate_reads([groups[place]]))[0], full[place])
            alone = RowGroup(1, shared.prompt, shared.own_start + 20, 20, 7)
            assert torch.equal(read([17], plan_separate_reads([alone]))[0], full[17])
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("scale", [0.0, 1.0, 300.0])
def test_scores_of_any_size_and_values_that_are_not_finite(scale: float) -> None:
    groups = [unshared(0, 150), unshared(200, 70)]
    arena = spoilt_arena(groups)
    arena.keys[1] *= scale
    plan = plan_reads(groups)
    split = split_plan(plan, 2, arena)
    assert split.unshared is not None
    query = 10 * torch.randn(2, 2, 2, 4)
    found = read_unshared(arena, 1, query, split.unshared)
    for row, ranges in enumerate(ranges_of(plan, 2)):
        # Scores of some thousands have an error of their own: a few units in their last place.
        expected = by_definition(arena, query[row], ranges)
        torch.testing.assert_close(found[row], expected, atol=1e-3 if scale > 1 else 1e-6, rtol=1e-5)
    arena.keys[1, 100] = torch.nan
    spoilt = read_unshared(arena, 1, query, split.unshared)
    assert spoilt[0].isnan().all() and torch.equal(spoilt[1], found[1])


def test_a_lone_row_other_devices_and_other_numbers_are_left_to_views(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = [unshared(0, 5), unshared(50, 6)]
    plan, arena = plan_reads(groups), spoilt_arena(groups)
    assert split_plan(plan[:1], 1, arena).others == plan[:1]
    assert supports_unshared_reads(arena)
    assert split_plan(plan, 2, spoilt_arena(groups, dtype=torch.float16)).others == plan
    assert split_plan(plan, 2, spoilt_arena(groups, shape=config(head_dim=6))).others == plan
    monkeypatch.setattr(module, "_has_kernel", lambda: False)
    assert split_plan(plan, 2, arena).others == plan


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_get_about_the_same_to_read(threads: int) -> None:
    lengths = np.array([5, 900, 30, 31, 880, 4, 29, 33, 890, 910, 6, 32])
    order = _deal_rows(lengths, threads)
    assert sorted(order.tolist()) == list(range(12))
    pieces = [int(lengths[piece].sum()) for piece in np.array_split(order, threads)]
    assert max(pieces) - min(pieces) < 60


def test_the_kernel_is_ready_before_the_first_request() -> None:
    groups = [unshared(0, 5), unshared(50, 6)]
    arena = spoilt_arena(groups, shape=config(head_dim=20))
    prepare_unshared_reads(arena)
    ready = len(row_kernel._kernel.signatures)
    split = split_plan(plan_reads(groups), 2, arena)
    assert split.unshared is not None
    assert read_unshared(arena, 1, torch.randn(2, 2, 2, 20), split.unshared).isfinite().all()
    assert len(row_kernel._kernel.signatures) == ready > 0
