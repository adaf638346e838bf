"""Configurations of tiny decoders for tests of several packages: a Llama, a prefix decoder, one with marks."""

from __future__ import annotations

import dataclasses

from model.decoder.config import DecoderConfig

LLAMA = DecoderConfig(
    vocab_size=41,
    hidden_size=16,
    num_layers=2,
    num_heads=4,
    num_kv_heads=2,
    head_dim=4,
    intermediate_size=24,
    max_positions=24,
)
PREFIX = dataclasses.replace(
    LLAMA,
    num_kv_heads=4,
    norm="layer",
    norm_position="post",
    positions="learned",
    activation="gelu",
    attention_bias=True,
    output_bias=True,
    mlp_bias=True,
    tied_head=True,
    embedding_norm=True,
    prefix=True,
    head="pointer",
)
MARKED = dataclasses.replace(PREFIX, vocab_size=23, max_positions=32, mark_separator=2, first_ordinary_id=5, follow=3)

# The head mixes the vocabulary with copying, like that of the reader.
POINTER = DecoderConfig(
    vocab_size=23,
    hidden_size=8,
    num_layers=1,
    num_heads=2,
    num_kv_heads=2,
    head_dim=4,
    intermediate_size=8,
    max_positions=16,
    tied_head=True,
    prefix=True,
    head="pointer",
)
