"""Configuration of SmolLM3: Llama with some layers without positions (NoPE). After transformers' SmolLM3Config."""

from __future__ import annotations

from dataclasses import replace

from model.architectures.fields import Fields
from model.architectures.rotary_shape import layer_windows, rotary_shape
from model.decoder.config import DecoderConfig


def smollm3_config(fields: Fields) -> DecoderConfig:
    """Return the DecoderConfig of a SmolLM3 config.json. Raises ModelError as ``rotary_shape`` does.

    Despite its name, no_rope_layers has a 1 for each layer with positions. By default these are 3 of 4 layers.
    """
    biased = fields.flag("attention_bias")
    shape = rotary_shape(
        fields,
        max_positions=32768,
        kv_heads=4,
        theta=2000000.0,
        tied=True,
        qkv_bias=biased,
        output_bias=biased,
        mlp_bias=fields.flag("mlp_bias"),
    )
    layers = shape.num_layers
    interval = fields.integer("no_rope_layer_interval", 4)
    rotated = fields.choices("no_rope_layers", (0, 1), layers)
    if rotated is None:
        rotated = tuple(int((layer + 1) % interval != 0) for layer in range(layers))
    window = fields.nullable_integer("sliding_window", None) if fields.flag("use_sliding_window") else None
    by_default = tuple(window is not None and not turns for turns in rotated)
    return replace(
        shape,
        unrotated=tuple(layer for layer, turns in enumerate(rotated) if not turns),
        windows=layer_windows(fields, layers, window, by_default),
    )
