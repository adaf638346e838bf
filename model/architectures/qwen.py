"""Configuration of Qwen2 and 2.5 (biases of queries, keys and values) and Qwen3 (normed queries and keys)."""

from __future__ import annotations

from dataclasses import replace

from model.architectures.fields import Fields
from model.architectures.rotary_shape import layer_windows, rotary_shape
from model.decoder.config import DecoderConfig


def qwen2_config(fields: Fields) -> DecoderConfig:
    """Return the DecoderConfig of a Qwen2 config.json. Raises ModelError as ``rotary_shape`` does."""
    return _windowed(fields, rotary_shape(fields, max_positions=32768, kv_heads=32, qkv_bias=True))


def qwen3_config(fields: Fields) -> DecoderConfig:
    """Return the DecoderConfig of a Qwen3 config.json. Raises ModelError as ``rotary_shape`` does."""
    biased = fields.flag("attention_bias")
    shape = rotary_shape(
        fields, max_positions=32768, kv_heads=32, head_dim=128, qkv_bias=biased, output_bias=biased, qk_norm=True
    )
    return _windowed(fields, shape)


def _windowed(fields: Fields, shape: DecoderConfig) -> DecoderConfig:
    """Return ``shape`` with its sliding windows.

    If use_sliding_window is true, layers from max_window_layers on have a window. layer_types takes precedence.
    """
    window = fields.nullable_integer("sliding_window", 4096) if fields.flag("use_sliding_window") else None
    first = fields.integer("max_window_layers", 28, least=0)
    by_default = tuple(window is not None and layer >= first for layer in range(shape.num_layers))
    return replace(shape, windows=layer_windows(fields, shape.num_layers, window, by_default))
