"""Token rows into batches: padding by hand, every row once an epoch, limits kept, the same plan every time."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model.errors import ModelError
from model.training.rows import TokenRow, collate, row_batches, rows_sha256

IDS = st.lists(st.integers(1, 30), min_size=1, max_size=40).map(tuple)
ROWS = st.lists(st.builds(TokenRow, IDS, IDS), min_size=1, max_size=40)


def test_collate_by_hand() -> None:
    batch = collate([TokenRow((5, 6, 7), (8, 9)), TokenRow((1,), (2, 3, 4))], pad=0)
    assert batch.token_ids.tolist() == [[5, 6, 7, 8], [1, 2, 3, 0]]  # the last answer token is never read
    assert batch.prompt_lengths.tolist() == [3, 1]
    assert batch.lengths.tolist() == [4, 3]
    assert batch.reads.tolist() == [[2, 3, 0], [0, 1, 2]]
    assert batch.targets.tolist() == [[8, 9, 0], [2, 3, 4]]
    assert batch.weights.tolist() == [[1, 1, 0], [1, 1, 1]]
    assert batch.to(torch.device("cpu")).token_ids.equal(batch.token_ids)


@settings(deadline=None)
@given(ROWS)
def test_collate_keeps_every_row(rows: list[TokenRow]) -> None:
    batch = collate(rows)
    for index, row in enumerate(rows):
        length, answers = int(batch.lengths[index]), int(batch.weights[index].sum())
        assert length == row.length
        assert tuple(batch.token_ids[index, :length].tolist()) == row.prompt + row.answer[:-1]
        assert tuple(batch.targets[index, :answers].tolist()) == row.answer
        # The position that predicts an answer token holds the token before it.
        before = batch.token_ids[index][batch.reads[index, :answers]].tolist()
        assert tuple(before) == (row.prompt[-1], *row.answer[:-1])


@settings(deadline=None)
@given(ROWS, st.integers(1, 200), st.integers(1, 60), st.integers(0, 3), st.integers(0, 2**63 - 1))
def test_every_row_once_an_epoch_within_the_limits(
    rows: list[TokenRow], tokens: int, answers: int, epoch: int, seed: int
) -> None:
    plan = row_batches(rows, tokens=tokens, answer_tokens=answers, seed=seed, epoch=epoch)
    assert plan == row_batches(rows, tokens=tokens, answer_tokens=answers, seed=seed, epoch=epoch)
    assert sorted(i for batch in plan for i in batch) == list(range(len(rows)))
    for batch in plan:
        if len(batch) > 1:  # a row over a limit stands alone
            assert len(batch) * max(rows[i].length for i in batch) <= tokens
            assert len(batch) * max(len(rows[i].answer) for i in batch) <= answers


def test_seeds_and_epochs_differ() -> None:
    rows = [TokenRow((1,) * (n % 7 + 1), (2,)) for n in range(60)]
    one = row_batches(rows, tokens=20, answer_tokens=20, seed=0, epoch=0)
    assert one != row_batches(rows, tokens=20, answer_tokens=20, seed=1, epoch=0)
    assert one != row_batches(rows, tokens=20, answer_tokens=20, seed=0, epoch=1)


def test_batches_hold_rows_of_about_one_length() -> None:
    rows = [TokenRow((1,) * (n % 50 + 1), (2,)) for n in range(1000)]
    plan = row_batches(rows, tokens=400, answer_tokens=400, seed=0, epoch=0)
    computed = sum(len(batch) * max(rows[i].length for i in batch) for batch in plan)
    assert computed < 1.15 * sum(row.length for row in rows)


def test_a_row_needs_a_prompt_and_an_answer() -> None:
    for prompt, answer in (((), (1,)), ((1,), ())):
        with pytest.raises(ModelError, match="at least one prompt token"):
            TokenRow(prompt, answer)


def test_the_hash_tells_rows_apart() -> None:
    rows = [TokenRow((1, 2), (3,)), TokenRow((4,), (5, 6))]
    hashes = {
        rows_sha256(rows),
        rows_sha256(rows[::-1]),
        rows_sha256(rows[:1]),
        rows_sha256([TokenRow((1,), (2, 3)), rows[1]]),
        rows_sha256([TokenRow((1, 2), (7,)), rows[1]]),
    }
    assert len(hashes) == 5
    assert rows_sha256(rows) == rows_sha256(list(rows))
