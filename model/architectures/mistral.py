"""Configuration of Mistral: Llama with one sliding window for all layers. After transformers' MistralConfig."""

from __future__ import annotations

from dataclasses import replace

from model.architectures.fields import Fields, refuse
from model.architectures.rotary_shape import rotary_shape
from model.decoder.config import DecoderConfig


def mistral_config(fields: Fields) -> DecoderConfig:
    """Return the DecoderConfig of a Mistral config.json. Raises ModelError as ``rotary_shape`` does.

    An absent sliding_window means 4,096, and null means no window. layer_types must agree with it.
    """
    shape = rotary_shape(fields, max_positions=131072, kv_heads=8)
    window = fields.nullable_integer("sliding_window", 4096)
    kind = "full_attention" if window is None else "sliding_attention"
    if (types := fields.source.get("layer_types")) not in (None, [kind] * shape.num_layers):
        refuse("layer_types", types, f"transformers' Mistral reads sliding_window only, which makes all {kind}")
    return shape if window is None else replace(shape, windows=(window,) * shape.num_layers)
