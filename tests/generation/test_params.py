"""Sampling parameters: each invalid value is refused by name."""

from __future__ import annotations

import math
import re

import pytest

from generation.decoding.params import SamplingParams
from generation.errors import GenerationError


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("min_p", -0.1),
        ("min_p", 1.01),
        ("min_p", math.nan),
        ("repetition_penalty", 0.0),
        ("repetition_penalty", -1.0),
        ("repetition_penalty", math.inf),
        ("repetition_penalty", math.nan),
        ("min_tokens", -1),
        ("min_tokens", 65),
        ("max_tokens", 0),
        ("top_logprobs", -1),
        ("top_logprobs", 21),
        ("deadline_seconds", 0.0),
        ("deadline_seconds", math.inf),
        ("deadline_seconds", math.nan),
    ],
)
def test_a_wrong_value_is_refused_by_name_and_value(field: str, value: float) -> None:
    with pytest.raises(GenerationError, match=rf"{field}.*{re.escape(str(value))}"):
        SamplingParams(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bias", "message"),
    [
        (((-1, 2.0),), "logit_bias.*-1"),
        (((3, 1.0), (3, 2.0)), "logit_bias.*3 twice"),
        (((3, math.nan),), "logit_bias.*3.*nan"),
        (((3, -math.inf),), "logit_bias.*3.*-inf"),
    ],
)
def test_a_wrong_bias_is_refused(bias: tuple[tuple[int, float], ...], message: str) -> None:
    with pytest.raises(GenerationError, match=message):
        SamplingParams(logit_bias=bias)


def test_the_edges_are_allowed() -> None:
    params = SamplingParams(
        min_p=1.0, repetition_penalty=1e-3, min_tokens=8, max_tokens=8, top_logprobs=20, deadline_seconds=0.001
    )
    assert params.adjusts_logits
    assert params.truncates
    assert not SamplingParams().adjusts_logits
    assert not SamplingParams(temperature=1.0).truncates
