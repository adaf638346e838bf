"""A BERT transformer built from the blocks of model/decoder, for inference on a CPU. Does not tokenize or pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.checkpoints.bert_weights import bert_blocks, bert_positions
from model.decoder.blocks import Block
from model.decoder.config import DecoderConfig
from model.decoder.packing import can_pack, pack_blocks

_ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh"}


def bert_config(theirs: Any) -> DecoderConfig | None:
    """Convert a transformers config to a DecoderConfig. Returns None if the model is not a plain BERT."""
    if getattr(theirs, "model_type", "") != "bert" or theirs.hidden_act not in _ACTIVATIONS:
        return None
    if getattr(theirs, "is_decoder", False) or theirs.hidden_size % theirs.num_attention_heads:
        return None
    if getattr(theirs, "position_embedding_type", None) not in (None, "absolute"):
        return None
    return DecoderConfig(
        vocab_size=theirs.vocab_size,
        hidden_size=theirs.hidden_size,
        num_layers=theirs.num_hidden_layers,
        num_heads=theirs.num_attention_heads,
        num_kv_heads=theirs.num_attention_heads,
        head_dim=theirs.hidden_size // theirs.num_attention_heads,
        intermediate_size=theirs.intermediate_size,
        max_positions=theirs.max_position_embeddings,
        norm="layer",
        norm_position="post",
        norm_eps=theirs.layer_norm_eps,
        positions="learned",
        activation="gelu" if _ACTIVATIONS[theirs.hidden_act] == "gelu" else "gelu_tanh",
        attention_bias=True,
        output_bias=True,
        mlp_bias=True,
        embedding_norm=True,
    )


class Bert(nn.Module):
    """A BERT transformer that maps token IDs to token vectors.

    Matrix products use ``dtype``; sums, norms and outputs are fp32. If the CPU supports it, weights are packed
    (model/decoder/packing.py) and gelu is fused into the product. Otherwise bf16 uses autocast.
    """

    def __init__(self, config: DecoderConfig, theirs: Mapping[str, Tensor], dtype: torch.dtype) -> None:
        """theirs: tensors of transformers' BertModel in fp32. The embeddings are shared, not copied."""
        super().__init__()
        self.dtype = dtype
        size = config.hidden_size
        self.words = theirs["embeddings.word_embeddings.weight"]  # (V, E)
        self.positions = bert_positions(theirs)  # (Delta, E)
        self.norm = nn.LayerNorm(size, eps=config.norm_eps)
        self.norm.load_state_dict({kind: theirs[f"embeddings.LayerNorm.{kind}"] for kind in ("weight", "bias")})
        with torch.device("meta"):  # the loaded weights replace ours, so no initialisation is needed
            self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.num_layers))
        self.blocks.load_state_dict(bert_blocks(theirs, config.num_layers), assign=True)
        self.eval()
        self.packed = can_pack(torch.device("cpu"), dtype)
        if self.packed:
            pack_blocks(self.blocks, dtype)

    @torch.inference_mode()
    def forward(self, token_ids: Tensor, attention: Tensor) -> Tensor:
        """Return the token vectors (B, T, E) in fp32.

        token_ids: (B, T). attention: (B, T), 1 for tokens and 0 for padding.
        """
        x = self.norm(F.embedding(token_ids, self.words) + self.positions[: token_ids.shape[1]])
        # Texts of equal length need no mask, and the kernel is faster without one.
        mask = None if bool(attention.all()) else attention.bool()[:, None, None, :]  # (B, 1, 1, T)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.dtype == torch.bfloat16 and not self.packed):
            for block in self.blocks:
                x = block(x, mask, None, None)
        out: Tensor = x.float()
        return out
