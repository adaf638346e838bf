"""DecoderConfig refuses what cannot be built, naming the value."""

from __future__ import annotations

import dataclasses

import pytest

from model.decoder.config import DecoderConfig
from model.errors import ModelError

SMALL = DecoderConfig(
    vocab_size=11,
    hidden_size=8,
    num_layers=2,
    num_heads=4,
    num_kv_heads=2,
    head_dim=2,
    intermediate_size=16,
    max_positions=16,
)
SIZES = ("vocab_size", "hidden_size", "num_layers", "num_heads", "num_kv_heads", "head_dim")


@pytest.mark.parametrize("field", [*SIZES, "intermediate_size", "max_positions"])
def test_sizes_below_one_are_refused(field: str) -> None:
    for value in (0, -3):
        with pytest.raises(ModelError, match=rf"{field} is {value}"):
            dataclasses.replace(SMALL, **{field: value})


@pytest.mark.parametrize("field", ["norm_eps", "rope_theta"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_scales_must_be_positive_numbers(field: str, value: float) -> None:
    with pytest.raises(ModelError, match=f"{field} is {value}"):
        dataclasses.replace(SMALL, **{field: value})


def test_heads_must_share_evenly() -> None:
    with pytest.raises(ModelError, match=r"4 .* 3"):
        dataclasses.replace(SMALL, num_kv_heads=3)


def test_rotary_needs_an_even_head() -> None:
    with pytest.raises(ModelError, match="even head_dim, not 3"):
        dataclasses.replace(SMALL, head_dim=3)
    assert dataclasses.replace(SMALL, head_dim=3, positions="learned").head_dim == 3


def test_pointer_head_needs_a_tied_prefix_decoder() -> None:
    for tied, prefix in ((True, False), (False, True)):
        with pytest.raises(ModelError, match="pointer head needs"):
            dataclasses.replace(SMALL, head="pointer", tied_head=tied, prefix=prefix)
    assert dataclasses.replace(SMALL, head="pointer", tied_head=True, prefix=True).head == "pointer"
