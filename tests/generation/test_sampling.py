"""Truncation and draws equal those of plain numpy, including ties and limits."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from generation.decoding.params import SamplingParams
from generation.decoding.sampling import SampleStream, check_finite, draw, kept_probabilities
from generation.errors import GenerationError

LOGPROBS = st.lists(st.sampled_from((-0.5, -1.0, -1.0, -2.5, -4.0, -9.0)), min_size=2, max_size=12)


def reference(logprobs: list[float], params: SamplingParams) -> list[float]:
    """Return the probabilities by definition: temperature, then top-k, then top-p of the remaining tokens."""
    if params.temperature == 0:
        best = logprobs.index(max(logprobs))
        return [float(i == best) for i in range(len(logprobs))]
    scaled = [(x - max(logprobs)) / params.temperature for x in logprobs]
    weights = [math.exp(x) for x in scaled]
    order = sorted(range(len(weights)), key=lambda i: (-weights[i], i))
    kept = order[: params.top_k]
    total = sum(weights[i] for i in kept)
    reached, nucleus = 0.0, []
    for token in kept:
        if nucleus and reached >= params.top_p:
            break
        nucleus.append(token)
        reached += weights[token] / total
    mass = sum(weights[i] for i in nucleus)
    return [weights[i] / mass if i in nucleus else 0.0 for i in range(len(weights))]


@settings(deadline=None)
@given(
    LOGPROBS,
    st.sampled_from((0.0, 0.3, 1.0, 2.0)),
    st.sampled_from((None, 1, 2, 3, 50)),
    st.sampled_from((1e-9, 0.123, 0.611, 0.937, 1.0)),
)
def test_kept_probabilities_equal_the_definition(
    logprobs: list[float], temperature: float, top_k: int | None, top_p: float
) -> None:
    params = SamplingParams(temperature=temperature, top_k=top_k, top_p=top_p)
    found = kept_probabilities(torch.tensor([logprobs, logprobs[::-1]]), params)
    assert found.dtype == torch.float64
    np.testing.assert_allclose(found[0], reference(logprobs, params), atol=1e-12)
    np.testing.assert_allclose(found[1], reference(logprobs[::-1], params), atol=1e-12)


def test_top_p_is_of_what_top_k_left() -> None:
    logprobs = torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log()
    # Of the two likeliest, the first has 4/7 = 0.571 and reaches 0.55 alone. Of all four, it would not.
    kept = kept_probabilities(logprobs, SamplingParams(temperature=1.0, top_k=2, top_p=0.55))
    assert kept.tolist() == [[1.0, 0.0, 0.0, 0.0]]


def test_greedy_takes_the_lowest_id_among_equals() -> None:
    logprobs = torch.tensor([[-3.0, -1.0, -1.0, -1.0]])
    assert kept_probabilities(logprobs, SamplingParams(top_k=3, top_p=0.5)).tolist() == [[0.0, 1.0, 0.0, 0.0]]


@pytest.mark.parametrize("temperature", [1e-30, 1e-46, 5e-324])
def test_a_tiny_temperature_is_greedy_and_never_nan(temperature: float) -> None:
    kept = kept_probabilities(torch.tensor([[-2.0, -0.5, -1.0]]), SamplingParams(temperature=temperature))
    assert kept.tolist() == [[0.0, 1.0, 0.0]]


def test_a_huge_temperature_is_uniform() -> None:
    kept = kept_probabilities(torch.tensor([[-2.0, -0.5, -1.0]]), SamplingParams(temperature=1e300))
    np.testing.assert_allclose(kept, 1 / 3)


def test_draw_follows_the_probabilities() -> None:
    """Chi-square test of 20,000 draws with 5 degrees of freedom and a false alarm rate of one in a million."""
    probabilities = torch.tensor([[0.0, 0.4, 0.0, 0.25, 0.2, 0.1, 0.04, 0.01, 0.0]], dtype=torch.float64)
    stream, count = SampleStream(7), 20_000
    tokens = draw(probabilities.expand(count, -1), [stream.uniform() for _ in range(count)])
    counts = np.bincount(tokens, minlength=9)
    assert not counts[[0, 2, 8]].any()
    kept = probabilities[0].numpy() > 0
    statistic = (
        (counts[kept] - count * probabilities[0].numpy()[kept]) ** 2 / (count * probabilities[0].numpy()[kept])
    ).sum()
    assert statistic < stats.chi2.isf(1e-6, 5)


def test_draw_inverts_the_cumulative_distribution_at_its_edges() -> None:
    row = torch.tensor([0.0, 0.25, 0.0, 0.75, 0.0], dtype=torch.float64)
    uniforms = [0.0, 0.2499, 0.25, 0.9999, 1 - 2**-53]
    assert draw(row.expand(5, -1), uniforms).tolist() == [1, 1, 3, 3, 3]


@settings(deadline=None)
@given(st.integers(0, 2**63 - 1), st.floats(0, 1, exclude_max=True))
def test_a_token_of_probability_zero_is_never_drawn(seed: int, uniform: float) -> None:
    random = np.random.default_rng(seed)
    weights = random.random(200) * (random.random(200) < 0.3)
    weights[random.integers(200)] = 1e-300
    row = torch.tensor(weights / weights.sum(), dtype=torch.float64)[None]
    for u in (0.0, uniform, 1 - 2**-53):
        assert row[0, int(draw(row, [u]))] > 0


def test_a_stream_depends_on_its_seed_alone() -> None:
    first, second, largest = SampleStream(3), SampleStream(3), SampleStream(2**63 - 1)
    SampleStream(4).uniform()
    numbers = [first.uniform() for _ in range(5)]
    assert numbers == [second.uniform() for _ in range(5)]
    assert numbers != [largest.uniform() for _ in range(5)]
    assert len(set(numbers)) == 5
    assert all(0 <= u < 1 for u in numbers)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_a_distribution_is_never_drawn_from(bad: float) -> None:
    with pytest.raises(GenerationError, match="NaN"):
        check_finite(torch.tensor([[-1.0, -2.0], [bad, -1.0]]))
    with pytest.raises(GenerationError, match="NaN"):
        check_finite(torch.full((1, 3), -math.inf))
    check_finite(torch.tensor([[-math.inf, 0.0]]))  # an excluded token is not an error


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", -0.1),
        ("temperature", math.nan),
        ("temperature", math.inf),
        ("top_k", 0),
        ("top_k", -3),
        ("top_p", 0.0),
        ("top_p", 1.5),
        ("top_p", math.nan),
        ("max_tokens", 0),
        ("n", 0),
        ("seed", -1),
        ("seed", 2**63),
    ],
)
def test_bad_parameters_are_refused_by_name_and_value(field: str, value: float) -> None:
    with pytest.raises(GenerationError, match=rf"{field}.*{re.escape(str(value))}"):
        SamplingParams(**{field: value})  # type: ignore[arg-type]


def test_an_empty_stop_string_is_refused_and_the_largest_seed_is_not() -> None:
    with pytest.raises(GenerationError, match="stop"):
        SamplingParams(stop=("END", ""))
    assert SamplingParams(seed=2**63 - 1).seed == 2**63 - 1
