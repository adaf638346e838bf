"""Rename BERT's tensors to the names of this package's blocks."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

_PAIRS = (
    ("attention.out", "attention.output.dense"),
    ("attention_norm", "attention.output.LayerNorm"),
    ("mlp.up", "intermediate.dense"),
    ("mlp.down", "output.dense"),
    ("mlp_norm", "output.LayerNorm"),
)


def bert_positions(theirs: Mapping[str, Tensor]) -> Tensor:
    """Return the learned position embeddings plus the embedding of token type 0: (Delta, E).

    Every position of a single text has token type 0.
    """
    return theirs["embeddings.position_embeddings.weight"] + theirs["embeddings.token_type_embeddings.weight"][0]


def bert_blocks(theirs: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Return the tensors of all layers, named as a ModuleList of Block expects; query, key and value are one matrix."""
    ours: dict[str, Tensor] = {}
    for layer in range(layers):
        old = f"encoder.layer.{layer}"
        for kind in ("weight", "bias"):
            parts = [theirs[f"{old}.attention.self.{name}.{kind}"] for name in ("query", "key", "value")]
            ours[f"{layer}.attention.qkv.{kind}"] = torch.cat(parts)
            for ours_name, theirs_name in _PAIRS:
                ours[f"{layer}.{ours_name}.{kind}"] = theirs[f"{old}.{theirs_name}.{kind}"]
    return ours
