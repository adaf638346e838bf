"""Exact-match marks and followed stretches: what they say is their definition, by loops."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model.decoder.marks import (
    CLAIM,
    EVIDENCE,
    MARKS,
    NOTHING,
    PLAIN_MARK,
    QUESTION,
    exact_marks,
    follow_lengths,
    prompt_parts,
)

Q, C, E, N = QUESTION, CLAIM, EVIDENCE, NOTHING


def marks_by_loops(ids: list[int], parts: list[int]) -> list[int]:
    places = range(len(ids))

    def same(i: int, j: int) -> bool:
        if not (0 <= i < len(ids) and 0 <= j < len(ids)):
            return False
        across = (parts[i] in (Q, C) and parts[j] == E) or (parts[i] == E and parts[j] in (Q, C))
        return across and ids[i] == ids[j]

    out = []
    for i in places:
        adjacent = any(same(i, j) and (same(i - 1, j - 1) or same(i + 1, j + 1)) for j in places)
        code = 2 if adjacent else int(any(same(i, j) for j in places))
        out.append(PLAIN_MARK if parts[i] == N else 3 * parts[i] + code)
    return out


def parts_by_loops(ids: list[int], length: int, separator: int, first: int) -> list[int]:
    out, passed = [], False
    for place, token in enumerate(ids):
        passed = passed or token == separator
        out.append((E if passed else Q) if place < length and token >= first else N)
    return out


def follow_by_loops(prompt: list[int], answer: list[int], most: int) -> list[list[int]]:
    def longest(a: int, p: int) -> int:
        fits = [n for n in range(1, most + 1) if n <= min(a, p) and answer[a - n : a] == prompt[p - n : p]]
        return max(fits, default=0)

    return [[longest(a, p) for p in range(len(prompt))] for a in range(len(answer))]


Row = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)


@settings(deadline=None, max_examples=150)
@given(st.lists(Row, min_size=1, max_size=3))
def test_marks_of_a_padded_batch_are_those_by_loops(rows: list[list[tuple[int, int]]]) -> None:
    longest = max(map(len, rows))
    ids = torch.tensor([[*(t for t, _ in row), *[0] * (longest - len(row))] for row in rows])
    parts = torch.tensor([[*(p for _, p in row), *[N] * (longest - len(row))] for row in rows])
    found = exact_marks(ids, parts)
    assert found.max() < MARKS
    for index, row in enumerate(rows):
        expected = marks_by_loops([t for t, _ in row], [p for _, p in row])
        assert found[index].tolist() == expected + [PLAIN_MARK] * (longest - len(row))


def test_marks_by_hand() -> None:
    """Question 7; claim 5 6 7 8; evidence 5 6 9 8 7: a pair, then single tokens; nine is nowhere else."""
    ids = torch.tensor([[1, 7, 2, 5, 6, 7, 8, 2, 5, 6, 9, 8, 7, 2, 0]])
    parts = torch.tensor([[N, Q, N, C, C, C, C, N, E, E, E, E, E, N, N]])
    p = PLAIN_MARK
    assert exact_marks(ids, parts).tolist() == [[p, 1, p, 5, 5, 4, 4, p, 8, 8, 6, 7, 7, p, p]]


def test_a_neighbour_on_the_same_side_or_across_a_border_is_none() -> None:
    # 5 6 stands twice in the claim and never in the evidence; 5 | 6 is split between question and claim.
    ids = torch.tensor([[5, 2, 6, 5, 6, 2, 5, 9, 6]])
    parts = torch.tensor([[Q, N, C, C, C, N, E, E, E]])
    p = PLAIN_MARK
    assert exact_marks(ids, parts).tolist() == [[1, p, 4, 4, 4, p, 7, 6, 7]]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=10), min_size=1, max_size=3), st.data())
def test_parts_of_a_prompt_are_those_by_loops(rows: list[list[int]], data: st.DataObject) -> None:
    longest = max(map(len, rows))
    lengths = [data.draw(st.integers(1, len(row))) for row in rows]
    ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
    found = prompt_parts(ids, torch.tensor(lengths), 2, 3)
    for index, (row, length) in enumerate(zip(ids.tolist(), lengths, strict=True)):
        assert found[index].tolist() == parts_by_loops(row, length, 2, 3)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=10),
    st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=1, max_size=3),
    st.integers(1, 4),
)
def test_followed_lengths_are_those_by_loops(prompt: list[int], answers: list[list[int]], most: int) -> None:
    expected = [follow_by_loops(prompt, answer, most) for answer in answers]
    shared = follow_lengths(torch.tensor([prompt]), torch.tensor(answers), most)
    assert shared.tolist() == expected
    own = follow_lengths(torch.tensor([prompt] * len(answers)), torch.tensor(answers), most)
    assert own.tolist() == expected


def test_tokens_from_the_one_that_is_due_have_no_say() -> None:
    prompt, answer = torch.tensor([[5, 6, 7, 5, 6]]), torch.tensor([[5, 6, 7]])
    changed = torch.tensor([[5, 6, 9]])
    assert torch.equal(follow_lengths(prompt, answer, 3), follow_lengths(prompt, changed, 3))
    assert follow_lengths(prompt, answer, 3)[0, 2].tolist() == [0, 0, 2, 0, 0]  # 5 6 goes on at 2, or ends the prompt
