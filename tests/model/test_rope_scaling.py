"""Scaled rotary frequencies against transformers', at the sizes of published checkpoints: every bit the same."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from model.architectures.fields import Fields
from model.architectures.rope_fields import rope_settings
from model.decoder.rope_scaling import LinearScaling, Llama3Scaling, YarnScaling, default_frequencies
from model.decoder.rotary import RotaryTable
from model.errors import ModelError

LLAMA31 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
    "rope_theta": 500000.0,
}
QWEN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768, "rope_theta": 1000000.0}
KINDS: dict[str, dict[str, Any]] = {
    "default": {"rope_type": "default", "rope_theta": 500000.0},
    "linear": {"rope_type": "linear", "factor": 8.0, "rope_theta": 10000.0},
    "dynamic": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0},
    "llama3": LLAMA31,
    "yarn": QWEN,
    "yarn, attention factor": QWEN | {"attention_factor": 1.3},
    "yarn, mscale": QWEN | {"mscale": 1.0, "mscale_all_dim": 0.7, "beta_fast": 16.0, "beta_slow": 2.0},
    "yarn, not truncated": QWEN | {"truncate": False},
    "yarn, factor from the lengths": QWEN | {"factor": None},
}


@pytest.mark.parametrize("kind", KINDS)
def test_frequencies_and_magnitude(kind: str) -> None:
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    sizes = {"hidden_size": 512, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 131072}
    theirs = LlamaRotaryEmbedding(LlamaConfig(**sizes, rope_parameters=dict(KINDS[kind])))
    found = rope_settings(Fields({"rope_parameters": KINDS[kind]}), 131072)
    plain = default_frequencies(128, found.theta)
    ours = plain if found.scaling is None else found.scaling.frequencies(128, found.theta)
    assert torch.equal(ours, theirs.inv_freq)
    assert (1.0 if found.scaling is None else found.scaling.magnitude) == pytest.approx(theirs.attention_scaling)
    positions = torch.tensor([[0, 1, 8191, 131071]])
    table = RotaryTable(128, 131072, found.theta, found.scaling)(positions)
    cos, sin = theirs(torch.zeros(1), positions)
    torch.testing.assert_close(table.cos[0, 0], cos[0], atol=1e-6, rtol=0)
    partner_sin = torch.cat((-sin[0, :, :64], sin[0, :, 64:]), dim=-1)
    torch.testing.assert_close(table.partner_sin[0, 0], partner_sin, atol=1e-6, rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_older_spelling_means_the_same(kind: str) -> None:
    new = dict(KINDS[kind])
    old = {key: value for key, value in new.items() if key not in ("rope_theta", "rope_type")}
    old["type"] = new["rope_type"]
    spelled = {"rope_theta": new["rope_theta"], "rope_scaling": old}
    assert rope_settings(Fields(spelled), 131072) == rope_settings(Fields({"rope_parameters": new}), 131072)


def test_which_field_goes_first() -> None:
    linear, yarn = {"type": "linear", "factor": 2.0}, QWEN
    both = rope_settings(Fields({"rope_scaling": linear, "rope_parameters": yarn, "rope_theta": 3e4}), 100)
    assert (both.theta, both.scaling) == (3e4, LinearScaling(2.0))
    outer = rope_settings(Fields({"rope_parameters": yarn, "original_max_position_embeddings": 4096}), 131072)
    assert outer.scaling == YarnScaling(4.0, 4096)
    inferred = rope_settings(Fields({"rope_scaling": {"type": "yarn", "factor": 2.0}}), 777)
    assert inferred.scaling == YarnScaling(2.0, 777)
    assert rope_settings(Fields({"rope_scaling": {}}), 100).scaling is None


@pytest.mark.parametrize(
    ("scaling", "message"),
    [
        ({"type": "linear"}, "rope_scaling.factor is missing"),
        ({"type": "linear", "factor": 0.0}, "factor is 0.0"),
        ({"type": "linear", "factor": float("nan")}, "factor is nan"),
        ({"type": "linear", "factor": "2"}, "rope_scaling.factor is '2'"),
        ({"type": "yarn", "factor": 2.0, "finetuned": True}, "rope_scaling.finetuned is True"),
        ({"type": "yarn", "factor": 2.0, "beta_fast": 1.0, "beta_slow": 4.0}, "beta_fast is 1.0"),
        ({"type": "dynamic", "factor": 2.0, "mrope_section": [1, 2]}, r"rope_scaling.mrope_section is \[1, 2\]"),
        ({"type": "llama3", "factor": 2.0}, "rope_scaling.low_freq_factor is missing"),
        (LLAMA31 | {"low_freq_factor": 4.0}, "low_freq_factor is 4.0, it must be below"),
        (LLAMA31 | {"original_max_position_embeddings": 0}, "original_max_position_embeddings is 0"),
        ({"rope_type": 3}, "rope_scaling.rope_type is 3"),
        ({"full_attention": QWEN, "rope_type": "yarn", "factor": 1.0}, "rope_scaling.full_attention is"),
        ([1], r"rope_scaling is \[1\]"),
    ],
)
def test_what_is_not_supported_is_named(scaling: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        rope_settings(Fields({"rope_scaling": scaling}), 1000)


def test_llama3_regimes() -> None:
    scaling, plain = Llama3Scaling(8.0, 1.0, 4.0, 8192), default_frequencies(128, 500000.0)
    ratio = plain / scaling.frequencies(128, 500000.0)
    assert ratio[0] == 1 and ratio[-1] == 8  # fast dimensions are kept, slow ones interpolated
    assert ((ratio > 1.01) & (ratio < 7.9)).any()
