"""Pair rows and their batches: every row once an epoch, within the limit, the same for the same seed."""

from __future__ import annotations

import dataclasses
import random

import pytest
import torch

from model.errors import ModelError
from model.training.pair_rows import UNKNOWN, PairRow, RowClaim, collate_pairs, pair_batches, pair_rows_sha256


def some_rows(count: int, seed: int = 0) -> list[PairRow]:
    draw = random.Random(seed)
    windows = [tuple(tuple([7] * draw.randint(1, 40)) for _ in range(draw.randint(1, 4))) for _ in range(count)]
    return [PairRow(w, (RowClaim(0, 1, draw.random() < 0.5),)) for w in windows]


def positions(rows: list[PairRow], batch: tuple[int, ...]) -> int:
    return max(rows[i].longest for i in batch) * sum(len(rows[i].windows) for i in batch)


@pytest.mark.parametrize("tokens", [1, 100, 400, 10_000_000])
def test_every_row_once_an_epoch_within_the_limit(tokens: int) -> None:
    rows = some_rows(60)
    epochs = [pair_batches(rows, tokens=tokens, seed=1, epoch=epoch) for epoch in range(3)]
    for batches in epochs:
        assert sorted(i for batch in batches for i in batch) == list(range(60))
        assert all(len(b) == 1 or positions(rows, b) <= tokens for b in batches)  # a row is never cut
        if tokens == 400:
            assert sum(positions(rows, b) for b in batches) < 1.3 * sum(r.longest * len(r.windows) for r in rows)
    if tokens == 400:
        assert epochs[0] != epochs[1]


def test_a_round_depends_on_rows_limit_seed_and_number_alone() -> None:
    rows = some_rows(40)
    first = pair_batches(rows, tokens=300, seed=1, epoch=1)
    state = random.getstate()
    assert pair_batches(list(rows), tokens=300, seed=1, epoch=1) == first
    assert random.getstate() == state
    assert pair_batches(rows, tokens=300, seed=2, epoch=1) != first
    assert pair_batches([], tokens=300, seed=1, epoch=1) == ()


def test_rows_are_padded_to_one_batch() -> None:
    rows = [
        PairRow(((5, 6, 7), (5, 6)), (RowClaim(1, 2, True, wrong=(0,)),)),
        PairRow(((9, 9, 9, 9),), (RowClaim(0, 2, False, weight=2.5), RowClaim(3, 4, True, wrong=(UNKNOWN,)))),
        PairRow(((1, 2),), (RowClaim(0, 2, False, wrong=(1, 0)),)),
    ]
    batch = collate_pairs(rows)
    u = UNKNOWN
    assert batch.token_ids.tolist() == [[5, 6, 7, 0], [5, 6, 0, 0], [9, 9, 9, 9], [1, 2, 0, 0]]
    assert batch.wrong.tolist() == [[u, 0, u, u], [u, 0, u, u], [u] * 4, [1, 0, u, u]]
    assert batch.reading_index.tolist() == [[-1, 0, -1, -1], [-1, 1, -1, -1], [2, 2, -1, 3], [4, 4, -1, -1]]
    assert batch.window.tolist() == [0, 1, 2, 2, 3]
    assert batch.claim.tolist() == [0, 0, 1, 2, 3]
    assert batch.supported.tolist() == [1.0, 0.0, 1.0, 0.0]
    assert batch.weights.tolist() == [1.0, 2.5, 1.0, 1.0]
    distil_rows = PairRow(((1, 2),), (RowClaim(0, 1, False, target=0.25), RowClaim(1, 2, True, target=0.0)))
    assert collate_pairs([rows[0], distil_rows]).supported.tolist() == [1.0, 0.25, 0.0]
    moved = batch.to(torch.device("meta"))
    assert {getattr(moved, field.name).device.type for field in dataclasses.fields(moved)} == {"meta"}


def test_the_hash_tells_rows_apart() -> None:
    claim = RowClaim(0, 2, True, wrong=(0, 1))
    row = PairRow(((5, 6), (7, 8)), (claim,))
    changed = [
        dataclasses.replace(claim, supported=False),
        dataclasses.replace(claim, weight=2.0),
        dataclasses.replace(claim, wrong=()),
        dataclasses.replace(claim, wrong=(1, 0)),
        dataclasses.replace(claim, start=1, wrong=(1,)),
        dataclasses.replace(claim, target=1.0),
        dataclasses.replace(claim, target=0.25),
    ]
    others = [
        *(dataclasses.replace(row, claims=(other,)) for other in changed),
        dataclasses.replace(row, claims=(RowClaim(0, 1, True), RowClaim(1, 2, True))),
        dataclasses.replace(row, windows=((5, 6, 7, 8),)),
        dataclasses.replace(row, windows=((5, 6), (7, 8), (8, 8))),
        dataclasses.replace(row, windows=((7, 8), (5, 6))),
    ]
    assert len({pair_rows_sha256([r]) for r in (row, *others)}) == 12
    assert pair_rows_sha256([row, others[0]]) != pair_rows_sha256([others[0], row])
    assert pair_rows_sha256([dataclasses.replace(row)]) == pair_rows_sha256([row])


ONE = (RowClaim(0, 1, True),)


@pytest.mark.parametrize(
    ("windows", "claims", "expected"),
    [
        ((), ONE, "at least one window"),
        (((1, 2), ()), ONE, "none of them empty"),
        (((1, 2),), (), "at least one claim"),
        (((1, 2),), (RowClaim(1, 2, True), RowClaim(0, 1, True)), "consecutive"),
        (((1, 2, 3), (1, 2)), (RowClaim(1, 3, True),), "ends at token 3 of a window of 2"),
    ],
)
def test_rows_that_cannot_be(windows: tuple[tuple[int, ...], ...], claims: tuple[RowClaim, ...], expected: str) -> None:
    with pytest.raises(ModelError, match=expected):
        PairRow(windows, claims)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"target": 1.5}, "the target of a claim is 1.5"),
        ({"target": float("nan")}, "the target of a claim is nan"),
        ({"end": 0}, "needs tokens, it has those from 0 to 0"),
        ({"wrong": (0,)}, "every token of the claim or for none"),
        ({"weight": 0.0}, "weight of a claim is 0.0"),
        ({"weight": float("nan")}, "weight of a claim is nan"),
    ],
)
def test_claims_that_cannot_be(fields: dict[str, object], expected: str) -> None:
    with pytest.raises(ModelError, match=expected):
        RowClaim(**{"start": 0, "end": 2, "supported": True, **fields})  # type: ignore[arg-type]
