"""Rows drawn in one call are bitwise equal to rows drawn alone; alternatives returned with a token."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.decoding.params import SamplingParams
from generation.decoding.sampling import (
    SampleStream,
    adjusted_logits,
    draw,
    draw_tokens,
    kept_probabilities,
    top_logprobs,
)

MIXED = [
    SamplingParams(),
    SamplingParams(temperature=0.7),
    SamplingParams(temperature=1.3, top_k=40),
    SamplingParams(temperature=0.9, top_p=0.9),
    SamplingParams(temperature=1.0, min_p=0.1),
    SamplingParams(temperature=1.1, top_k=500, top_p=0.7, min_p=0.01),
]
ROW = st.builds(
    SamplingParams,
    temperature=st.sampled_from((0.0, 0.2, 1.0, 3.0)),
    top_k=st.sampled_from((None, 1, 5, 400)),
    top_p=st.sampled_from((0.01, 0.6, 0.95, 1.0)),
    min_p=st.sampled_from((0.0, 0.05, 1.0)),
)


def uniforms(count: int, seed: int = 5) -> list[float]:
    stream = SampleStream(seed)
    return [stream.uniform() for _ in range(count)]


@settings(deadline=None, max_examples=60)
@given(st.lists(ROW, min_size=1, max_size=20), st.integers(0, 2**31), st.sampled_from((2, 17, 1_000)))
def test_a_row_does_not_depend_on_the_others(rows: list[SamplingParams], seed: int, size: int) -> None:
    random = torch.Generator().manual_seed(seed)
    logits = torch.randn((len(rows), size), generator=random) * 4
    numbers = uniforms(len(rows), seed)
    together = kept_probabilities(logits, rows)
    tokens = draw_tokens(logits, rows, numbers)
    assert torch.equal(tokens, draw(together, numbers))
    for i, row in enumerate(rows):
        alone = kept_probabilities(logits[i : i + 1], row)
        assert torch.equal(alone[0], together[i])  # to the last bit
        assert int(draw_tokens(logits[i : i + 1], [row], numbers[i : i + 1])) == int(tokens[i])


@pytest.mark.parametrize("size", [32_003, 151_936])
def test_nor_does_a_row_of_a_real_vocabulary(size: int) -> None:
    """Odd sizes give rows every alignment, and libraries split long rows between threads."""
    random = torch.Generator().manual_seed(size)
    rows = MIXED * 3
    logits = torch.randn((len(rows), size), generator=random) * 3
    numbers = uniforms(len(rows))
    tokens = draw_tokens(logits, rows, numbers)
    backwards = draw_tokens(logits.flip(0), rows[::-1], numbers[::-1]).flip(0)
    assert torch.equal(tokens, backwards)
    for i in (1, 3, 8, 11):
        alone = kept_probabilities(logits[i : i + 1], rows[i])[0]
        assert torch.equal(alone, kept_probabilities(logits[: i + 1], rows[: i + 1])[i])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_row_on_a_gpu_does_not_depend_on_the_others() -> None:
    random = torch.Generator().manual_seed(4)
    rows = MIXED * 11
    logits = (torch.randn((len(rows), 50_257), generator=random) * 3).cuda()
    numbers = uniforms(len(rows))
    together = kept_probabilities(logits, rows)
    for count in (1, 2, 7, 33):
        assert torch.equal(kept_probabilities(logits[:count], rows[:count]), together[:count])
    assert torch.equal(draw_tokens(logits, rows, numbers), draw(together, numbers))
    assert torch.equal(draw_tokens(logits.cpu(), rows, numbers), draw_tokens(logits, rows, numbers).cpu())


def test_draws_of_the_first_version_of_this_code_stay() -> None:
    """Draws equal those of the first version's float64 cumulative sum, so that old seeds give the same answers."""
    random = torch.Generator().manual_seed(11)
    logits = torch.randn((64, 5_000), generator=random) * 2
    params = SamplingParams(temperature=0.8, top_k=300, top_p=0.95)
    numbers = uniforms(64, seed=1)
    probabilities = kept_probabilities(logits, params)
    cumulative = probabilities.cumsum(-1)
    points = torch.tensor(numbers, dtype=torch.float64)[:, None] * cumulative[:, -1:]
    first = torch.searchsorted(cumulative, points, right=True).squeeze(-1)
    assert torch.equal(draw(probabilities, numbers), first)
    assert len(set(first.tolist())) > 30


def test_the_largest_uniform_draws_the_last_token_kept() -> None:
    flat = torch.full((1, 100_003), 1 / 100_003, dtype=torch.float64)
    assert draw(flat, [1 - 2**-53]).tolist() == [100_002]
    assert draw(flat, [0.0]).tolist() == [0]


def test_rows_and_parameters_must_match() -> None:
    logits = torch.zeros((2, 5))
    with pytest.raises(ValueError, match=r"1 sampling.*2"):
        kept_probabilities(logits, [SamplingParams()])
    with pytest.raises(ValueError, match=r"1 uniforms.*2"):
        draw_tokens(logits, [SamplingParams()] * 2, [0.5])
    with pytest.raises(ValueError, match="seen"):
        adjusted_logits(logits, [SamplingParams(repetition_penalty=2.0)] * 2, None, [0, 0], ())


def test_alternatives_are_the_likeliest_and_equals_come_by_id() -> None:
    logprobs = torch.tensor([[0.1, 0.4, 0.1, 0.3, 0.1], [0.2, 0.2, 0.2, 0.2, 0.2], [0.5, 0.5, 0.0, 0.0, 0.0]]).log()
    found = top_logprobs(logprobs, [3, 2, 20])
    assert [[token for token, _ in row] for row in found] == [[1, 3, 0], [0, 1], [0, 1, 2, 3, 4]]
    assert found[0][1][1] == pytest.approx(math.log(0.3))
    assert found[2][2][1] == -math.inf
    assert top_logprobs(logprobs, [0, 1, 0]) == ((), ((0, pytest.approx(math.log(0.2))),), ())
    assert top_logprobs(logprobs, [0, 0, 0]) == ((), (), ())


@settings(deadline=None)
@given(st.lists(st.sampled_from((-1.0, -2.0, -3.0)), min_size=1, max_size=30), st.integers(0, 20))
def test_alternatives_equal_a_sort(values: list[float], count: int) -> None:
    expected = sorted(enumerate(values), key=lambda pair: (-pair[1], pair[0]))[:count]
    assert top_logprobs(torch.tensor([values]), [count]) == (tuple(expected),)
