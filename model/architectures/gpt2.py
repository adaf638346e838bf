"""Configuration of GPT-2 (also nanoGPT): learned positions, LayerNorm, GELU, biases. After transformers' GPT2Config."""

from __future__ import annotations

from typing import Literal

from model.architectures.fields import Fields, refuse
from model.architectures.rotary_shape import MOST_LAYERS, MOST_POSITIONS
from model.decoder.config import DecoderConfig

_ACTIVATIONS: dict[object, Literal["gelu", "gelu_tanh"]] = {
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu": "gelu",
}


def gpt2_config(fields: Fields) -> DecoderConfig:
    """Return the DecoderConfig of a GPT-2 config.json. Raises ModelError, naming the field, if it is not supported."""
    for name, only in (
        ("scale_attn_weights", True),
        ("scale_attn_by_inverse_layer_idx", False),
        ("reorder_and_upcast_attn", False),
        ("add_cross_attention", False),
    ):
        fields.require_value(name, (only, None), absent=only)
    activation = fields.source.get("activation_function", "gelu_new")
    if not isinstance(activation, str) or activation not in _ACTIVATIONS:
        refuse("activation_function", activation, f"only {', '.join(map(repr, _ACTIVATIONS))} are supported")
    hidden, heads = fields.integer("n_embd"), fields.integer("n_head")
    if hidden % heads:
        refuse("n_embd", hidden, f"it must be a multiple of n_head ({heads})")
    return DecoderConfig(
        vocab_size=fields.integer("vocab_size"),
        hidden_size=hidden,
        num_layers=fields.integer("n_layer", most=MOST_LAYERS),
        num_heads=heads,
        num_kv_heads=heads,
        head_dim=hidden // heads,
        intermediate_size=fields.integer("n_inner", 4 * hidden),
        max_positions=fields.integer("n_positions", 1024, most=MOST_POSITIONS),
        norm="layer",
        norm_eps=fields.number("layer_norm_epsilon", 1e-5),
        positions="learned",
        activation=_ACTIVATIONS[activation],
        attention_bias=True,
        output_bias=True,
        mlp_bias=True,
        tied_head=fields.flag("tie_word_embeddings", True),
    )
