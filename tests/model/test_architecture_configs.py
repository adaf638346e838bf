"""config.json of each family to DecoderConfig: transformers' defaults, windows, and refusals by field and value."""

from __future__ import annotations

from typing import Any

import pytest

from model.architectures.families import decoder_config
from model.errors import ModelError

LEAST: dict[str, Any] = {
    "vocab_size": 11,
    "hidden_size": 16,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 24,
}
GPT2: dict[str, Any] = {"model_type": "gpt2", "vocab_size": 11, "n_embd": 16, "n_layer": 2, "n_head": 4}


def read(family: str, **fields: object) -> Any:
    return decoder_config((GPT2 if family == "gpt2" else LEAST) | {"model_type": family} | fields)


@pytest.mark.parametrize(
    ("family", "kind"),
    [
        ("llama", "LlamaConfig"),
        ("mistral", "MistralConfig"),
        ("qwen2", "Qwen2Config"),
        ("qwen3", "Qwen3Config"),
        ("smollm3", "SmolLM3Config"),
    ],
)
def test_absent_fields_mean_what_transformers_makes_of_them(family: str, kind: str) -> None:
    import transformers

    # Heads so that every family's default number of key/value heads divides them.
    sizes = LEAST | {"hidden_size": 64, "num_attention_heads": 32, "pad_token_id": None}
    theirs = getattr(transformers, kind)(**sizes)
    ours = decoder_config(sizes | {"model_type": family})
    assert ours.max_positions == theirs.max_position_embeddings
    assert ours.num_kv_heads == theirs.num_key_value_heads
    assert ours.norm_eps == theirs.rms_norm_eps
    assert ours.rope_theta == theirs.rope_parameters["rope_theta"]
    assert ours.tied_head == theirs.tie_word_embeddings
    assert ours.head_dim == getattr(theirs, "head_dim", 2)
    window = getattr(theirs, "sliding_window", None)
    assert ours.windows == (() if window is None else (window,) * 4)
    if family == "smollm3":
        assert [int(layer not in ours.unrotated) for layer in range(4)] == theirs.no_rope_layers


def test_gpt2_defaults() -> None:
    from transformers import GPT2Config

    theirs, ours = GPT2Config(n_embd=16, n_layer=2, n_head=4, vocab_size=11), read("gpt2")
    assert (ours.max_positions, ours.norm_eps, ours.tied_head) == (1024, theirs.layer_norm_epsilon, True)
    assert (ours.intermediate_size, ours.positions, ours.activation) == (64, "learned", "gelu_tanh")
    assert ours.norm == "layer" and ours.attention_bias and ours.output_bias and ours.mlp_bias


def test_null_is_not_absent_where_it_matters() -> None:
    assert read("mistral", num_key_value_heads=4, sliding_window=None).windows == ()
    assert read("mistral", num_key_value_heads=None).num_kv_heads == 4


def test_windows_by_layer() -> None:
    qwen = {"num_key_value_heads": 2, "sliding_window": 7}
    assert read("qwen2", **qwen).windows == ()
    assert read("qwen2", **qwen, use_sliding_window=True).windows == ()  # max_window_layers is 28
    assert read("qwen2", **qwen, use_sliding_window=True, max_window_layers=3).windows == (None, None, None, 7)
    types = ["sliding_attention", "full_attention", "full_attention", "sliding_attention"]
    assert read("qwen3", **qwen, use_sliding_window=True, layer_types=types).windows == (7, None, None, 7)
    assert read("qwen2", **qwen, layer_types=["full_attention"] * 4).windows == ()
    smol = {"num_key_value_heads": 2, "sliding_window": 5, "no_rope_layers": [1, 0, 1, 0]}
    assert read("smollm3", **smol).windows == ()
    assert read("smollm3", **smol, use_sliding_window=True).windows == (None, 5, None, 5)
    assert read("smollm3", **smol).unrotated == (1, 3)


@pytest.mark.parametrize(
    ("family", "fields", "message"),
    [
        ("gemma2", {}, "model_type is 'gemma2': only 'llama', 'mistral'"),
        ("qwen2_moe", {}, "model_type is 'qwen2_moe'"),
        ("qwen2", {"architectures": ["Qwen2ForSequenceClassification"]}, "architectures is .*Sequence"),
        ("mistral", {"hidden_act": "gelu"}, "hidden_act is 'gelu'"),
        ("mistral", {"sliding_window": 0}, "sliding_window is 0: it must be at least 1"),
        ("mistral", {"sliding_window": "4096"}, "sliding_window is '4096'"),
        ("mistral", {"num_key_value_heads": 4, "layer_types": ["full_attention"] * 4}, "layer_types is"),
        ("qwen2", {"layer_types": ["sliding_attention"] * 4}, "layer_types is .*needs use_sliding_window"),
        ("qwen2", {"layer_types": ["full_attention"]}, "layer_types is .*a list of 4 entries"),
        ("qwen3", {"layer_types": ["chunked_attention"] * 4}, "layer_types is 'chunked_attention'"),
        ("qwen2", {"use_sliding_window": "yes"}, "use_sliding_window is 'yes'"),
        ("smollm3", {"no_rope_layers": [1, 2, 1, 1]}, "no_rope_layers is 2"),
        ("smollm3", {"no_rope_layer_interval": 0}, "no_rope_layer_interval is 0"),
        ("smollm3", {"partial_rotary_factor": 0.5}, "partial_rotary_factor is 0.5"),
        ("gpt2", {"n_embd": 18}, "n_embd is 18: it must be a multiple of n_head"),
        ("gpt2", {"n_head": None}, "n_head is missing"),
        ("gpt2", {"activation_function": "relu"}, "activation_function is 'relu'"),
        ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx is True"),
        ("gpt2", {"scale_attn_weights": False}, "scale_attn_weights is False"),
        ("gpt2", {"reorder_and_upcast_attn": True}, "reorder_and_upcast_attn is True"),
        ("gpt2", {"add_cross_attention": True}, "add_cross_attention is True"),
        ("gpt2", {"layer_norm_epsilon": float("inf")}, "norm_eps is inf"),
    ],
)
def test_what_is_not_supported_is_named(family: str, fields: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        read(family, **({"num_key_value_heads": 2} | fields))


def test_a_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(ModelError) as caught:
        read("llama", architectures=["x" * 10_000])
    assert len(str(caught.value)) < 400
