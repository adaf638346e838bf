"""Configuration shared by Llama-like models: pre-norm RMSNorm, rotary positions, SwiGLU, grouped queries."""

from __future__ import annotations

from model.architectures.fields import Fields, refuse
from model.architectures.rope_fields import rope_settings
from model.decoder.config import DecoderConfig

# No checkpoint has larger values. The limits are needed because blocks and rotary tables are allocated before any
# tensor is read.
MOST_LAYERS, MOST_POSITIONS = 1024, 2**22


def rotary_shape(
    fields: Fields,
    *,
    max_positions: int,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    theta: float = 10000.0,
    tied: bool = False,
    qkv_bias: bool = False,
    output_bias: bool = False,
    mlp_bias: bool = False,
    qk_norm: bool = False,
) -> DecoderConfig:
    """Return the DecoderConfig of the config.json of a Llama-like model.

    Defaults of the family for absent fields: max_positions, kv_heads (None: the number of query heads), head_dim (None:
    hidden_size / num_attention_heads), theta, tied. qkv_bias, output_bias, mlp_bias: layers with biases. qk_norm:
    whether queries and keys are normed. Raises ModelError, naming the field and its value, if one is missing, of the
    wrong type or not supported.
    """
    fields.require_value("hidden_act", ("silu", "swish"), absent="silu")
    heads = fields.integer("num_attention_heads")
    hidden = fields.integer("hidden_size")
    if head_dim is None:
        if fields.source.get("head_dim") is None and hidden % heads:
            refuse("hidden_size", hidden, f"without head_dim it must be a multiple of num_attention_heads ({heads})")
        head_dim = hidden // heads
    positions = fields.integer("max_position_embeddings", max_positions, most=MOST_POSITIONS)
    rope = rope_settings(fields, positions, theta)
    return DecoderConfig(
        vocab_size=fields.integer("vocab_size"),
        hidden_size=hidden,
        num_layers=fields.integer("num_hidden_layers", most=MOST_LAYERS),
        num_heads=heads,
        num_kv_heads=fields.nullable_integer("num_key_value_heads", kv_heads) or heads,
        head_dim=fields.integer("head_dim", head_dim),
        intermediate_size=fields.integer("intermediate_size"),
        max_positions=positions,
        norm_eps=fields.number("rms_norm_eps", 1e-6),
        rope_theta=rope.theta,
        rope=rope.scaling,
        attention_bias=qkv_bias,
        output_bias=output_bias,
        mlp_bias=mlp_bias,
        tied_head=fields.flag("tie_word_embeddings", tied),
        qk_norm=qk_norm,
    )


def layer_windows(
    fields: Fields, layers: int, window: int | None, by_default: tuple[bool, ...]
) -> tuple[int | None, ...]:
    """Return the sliding window of each layer, None without one; () if no layer has one.

    by_default: whether each layer has a window, if layer_types is absent.
    """
    types = fields.choices("layer_types", ("full_attention", "sliding_attention"), layers)
    slides = by_default if types is None else tuple(kind == "sliding_attention" for kind in types)
    if not any(slides):
        return ()
    if window is None:
        refuse("layer_types", list(types or ()), "sliding_attention needs use_sliding_window and sliding_window")
    return tuple(window if slide else None for slide in slides)
