"""llama_config reads a Llama config.json as transformers does and refuses what the decoder does not do."""

from __future__ import annotations

import pytest

from model.architectures.families import decoder_config
from model.decoder.config import DecoderConfig
from model.errors import ModelError

LEAST: dict[str, object] = {
    "model_type": "llama",
    "vocab_size": 32,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 24,
}


def test_absent_fields_mean_what_they_mean_to_transformers() -> None:
    assert decoder_config(LEAST) == DecoderConfig(
        vocab_size=32,
        hidden_size=16,
        num_layers=2,
        num_heads=4,
        num_kv_heads=4,
        head_dim=4,
        intermediate_size=24,
        max_positions=2048,
        norm_eps=1e-6,
        rope_theta=10000.0,
        tied_head=False,
    )


def test_every_field_is_honoured() -> None:
    config = decoder_config(
        LEAST
        | {
            "num_key_value_heads": 2,
            "head_dim": 6,
            "max_position_embeddings": 99,
            "rms_norm_eps": 1e-5,
            "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0},
            "attention_bias": True,
            "mlp_bias": True,
            "tie_word_embeddings": True,
        }
    )
    assert (config.num_kv_heads, config.head_dim, config.max_positions) == (2, 6, 99)
    assert (config.norm_eps, config.rope_theta) == (1e-5, 500000.0)
    assert config.attention_bias and config.output_bias and config.mlp_bias and config.tied_head


def test_an_explicit_head_size_needs_no_even_split() -> None:
    assert decoder_config(LEAST | {"hidden_size": 18, "head_dim": 4}).head_dim == 4
    with pytest.raises(ModelError, match=r"hidden_size is 18.*num_attention_heads \(4\)"):
        decoder_config(LEAST | {"hidden_size": 18})


@pytest.mark.parametrize(
    ("fields", "theta"),
    [
        ({"rope_theta": 5e5, "rope_scaling": None}, 5e5),
        ({"rope_theta": 5e5, "rope_scaling": {"type": "default"}}, 5e5),
        ({"rope_theta": 1e4, "rope_parameters": {"rope_type": "default", "rope_theta": 3e4}}, 3e4),
        ({"rope_theta": 5e5, "rope_parameters": {"rope_type": "default"}}, 5e5),
    ],
)
def test_rotary_base_in_old_and_new_form(fields: dict[str, object], theta: float) -> None:
    assert decoder_config(LEAST | fields).rope_theta == theta


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model_type": "mixtral"}, "model_type is 'mixtral'"),
        ({"model_type": ["llama"]}, r"model_type is \['llama'\]"),
        ({"model_type": None}, "model_type is None"),
        ({"architectures": ["LlamaForSequenceClassification"]}, "architectures is .*LlamaForSequenceClassification"),
        ({"hidden_act": "gelu"}, "hidden_act is 'gelu'"),
        ({"pretraining_tp": 2}, "pretraining_tp is 2"),
        ({"rope_scaling": {"type": "longrope", "factor": 2.0}}, "rope_scaling.type is 'longrope'"),
        ({"rope_parameters": {"rope_type": "mrope", "rope_theta": 5e5}}, "rope_parameters.rope_type is 'mrope'"),
        ({"rope_parameters": {"partial_rotary_factor": 0.5}}, "rope_parameters.partial_rotary_factor is 0.5"),
        ({"rope_parameters": "default"}, "rope_parameters is 'default'"),
        ({"partial_rotary_factor": 0.25}, "partial_rotary_factor is 0.25"),
        ({"hidden_size": None}, "hidden_size is missing"),
        ({"hidden_size": "16"}, "hidden_size is '16'"),
        ({"num_hidden_layers": True}, "num_hidden_layers is True"),
        ({"num_attention_heads": 0}, "num_attention_heads is 0"),
        ({"num_key_value_heads": 3}, "cannot share 3"),
        ({"rms_norm_eps": "small"}, "rms_norm_eps is 'small'"),
        ({"attention_bias": "yes"}, "attention_bias is 'yes'"),
        ({"vocab_size": -1}, "vocab_size is -1"),
    ],
)
def test_what_is_not_supported_is_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        decoder_config(LEAST | fields)
