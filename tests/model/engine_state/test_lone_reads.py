"""Rows that share nothing read the same together as each by itself, and nothing that is not theirs."""

from __future__ import annotations

import random

import pytest
import torch

from model.config import DecoderConfig
from model.engine_state.arena import KeyValueArena, bytes_per_position
from model.engine_state.cascade import read_part
from model.engine_state.lone_reads import read_lone, split_plan
from model.engine_state.ranges import KeyRange
from model.engine_state.reads import RowGroup, plan_reads

CONFIG = DecoderConfig(31, 16, 2, 4, 2, 4, 24, 64)
CPU = torch.device("cpu")


def lone(start: int, prompt: int, own: int = 1) -> RowGroup:
    return RowGroup(1, (KeyRange(start, prompt),), start + prompt, 40, own)


def spoilt_arena(groups: list[RowGroup]) -> KeyValueArena:
    """NaN wherever no row may look."""
    arena = KeyValueArena(CONFIG, 900 * bytes_per_position(CONFIG, torch.float32), dtype=torch.float32)
    torch.manual_seed(1)
    for stored in (arena.keys, arena.values):
        stored.fill_(torch.nan)
        for group in groups:
            for part in (*group.prompt, KeyRange(group.own_start, group.own_length)):
                stored[:, part.start : part.end] = torch.randn(2, part.length, 2, 4)
    return arena


@pytest.mark.parametrize("window", [None, 7])
def test_together_as_each_by_itself_and_of_ones_own_alone(window: int | None) -> None:
    rng = random.Random(0)
    groups = [lone(45 * place, rng.randint(1, 38), rng.randint(1, 4)) for place in range(19)]
    arena = spoilt_arena(groups)
    plan = plan_reads(groups, window)
    split = split_plan(plan, torch.float32, CPU)
    assert not split.others and len(split.lone) == 3
    assert sorted(torch.cat([group.rows for group in split.lone]).tolist()) == list(range(19))
    query = torch.randn(19, 2, 2, 4)
    for group in split.lone:
        found = read_lone(arena, 1, query, group)
        for place, row in enumerate(group.rows.tolist()):
            (read,) = [read for read in plan if read.first_row == row]
            keys, values = arena.view(1, read.start, 1, 0, read.length)
            expected = read_part(query[row : row + 1], keys, values).output[0]
            torch.testing.assert_close(found[place], expected, atol=1e-6, rtol=1e-5)


def test_rows_that_share_and_rows_in_several_parts_stay_where_they_are() -> None:
    shared = KeyRange(0, 9)
    groups = [
        RowGroup(3, (shared,), 100, 10, 2),
        lone(200, 5),
        RowGroup(1, (KeyRange(300, 4), KeyRange(320, 3)), 340, 9, 1),  # in two parts
        lone(400, 8),
    ]
    split = split_plan(plan_reads(groups), torch.float32, CPU)
    assert [group.rows.tolist() for group in split.lone] == [[3, 5]]
    assert {read.first_row for read in split.others} == {0, 4}


def test_a_lone_row_and_other_devices_are_left_to_views() -> None:
    groups = [lone(0, 5), lone(50, 6)]
    plan = plan_reads(groups)
    assert split_plan(plan[:1], torch.float32, CPU).others == plan[:1]
    assert split_plan(plan, torch.float32, torch.device("cuda")).others == plan
