"""Configuration of Llama 2, Llama 3.x and models of the same architecture. After transformers' LlamaConfig."""

from __future__ import annotations

from model.architectures.fields import Fields
from model.architectures.rotary_shape import rotary_shape
from model.decoder.config import DecoderConfig


def llama_config(fields: Fields) -> DecoderConfig:
    """Return the DecoderConfig of a Llama config.json. Raises ModelError as ``rotary_shape`` does."""
    fields.require_value("pretraining_tp", (1, None), absent=1)
    biased = fields.flag("attention_bias")
    return rotary_shape(
        fields, max_positions=2048, qkv_bias=biased, output_bias=biased, mlp_bias=fields.flag("mlp_bias")
    )
