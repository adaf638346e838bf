"""Llama checkpoints: where each tensor of transformers' LlamaForCausalLM goes in a Decoder, and the loading."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from model.checkpoint import CONFIG, Checkpoint, check_keys, fill, read_checkpoint, stored_equal
from model.config import DecoderConfig
from model.decoder import Decoder
from model.errors import ModelError
from model.llama_config import llama_config
from model.rotary import RotaryTable

_EMBEDDING, _HEAD = "model.embed_tokens.weight", "lm_head.weight"


def load_decoder(folder: Path, *, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu") -> Decoder:
    """A Llama checkpoint folder as a Decoder in ``dtype`` on ``device``, in eval mode, without gradients.

    Everything is checked from config.json and the headers first; then memory for the weights is taken once and filled
    tensor by tensor. Raises ModelError naming the file and the field or key.
    """
    checkpoint = read_checkpoint(folder)
    try:
        config = llama_config(checkpoint.config)
    except ModelError as error:
        raise ModelError(f"{folder / CONFIG}: {error}") from error
    with torch.device("meta"):  # shapes only: nothing is initialised that a checkpoint then overwrites
        model = Decoder(config).to(dtype)
    shapes = {key: tuple(target.shape) for key, target in checkpoint_targets(model).items()}
    check_keys(checkpoint, shapes, _ignored(checkpoint, config))
    model.to_empty(device=device)
    # Not stored in checkpoints, and in fp32 whatever the weights are.
    model.rotary = RotaryTable(config.head_dim, config.max_positions, config.rope_theta).to(device)
    fill(checkpoint, checkpoint_targets(model))
    return model.eval().requires_grad_(False)


def checkpoint_targets(model: Decoder) -> dict[str, Tensor]:
    """For each tensor of the checkpoint, the part of this model's parameters it fills.

    query, key and value are one matrix here, and so are gate and up: their targets are views of its rows.
    """
    config = model.config
    ours: dict[str, Tensor] = dict(model.named_parameters())
    key_value = config.num_kv_heads * config.head_dim
    qkv = (config.num_heads * config.head_dim, key_value, key_value)
    out = {_EMBEDDING: ours.pop("embedding.weight"), "model.norm.weight": ours.pop("final_norm.weight")}
    if not config.tied_head:
        out[_HEAD] = ours.pop("head.weight")
    for layer in range(config.num_layers):
        old, new = f"model.layers.{layer}", f"blocks.{layer}"
        out[f"{old}.input_layernorm.weight"] = ours.pop(f"{new}.attention_norm.weight")
        out[f"{old}.post_attention_layernorm.weight"] = ours.pop(f"{new}.mlp_norm.weight")
        for kind in ("weight", "bias") if config.attention_bias else ("weight",):
            parts = ours.pop(f"{new}.attention.qkv.{kind}").detach().split_with_sizes(qkv)
            for name, part in zip(("q_proj", "k_proj", "v_proj"), parts, strict=True):
                out[f"{old}.self_attn.{name}.{kind}"] = part
            out[f"{old}.self_attn.o_proj.{kind}"] = ours.pop(f"{new}.attention.out.{kind}")
        for kind in ("weight", "bias") if config.mlp_bias else ("weight",):
            halves = ours.pop(f"{new}.mlp.gate_up.{kind}").detach().chunk(2)
            for name, part in zip(("gate_proj", "up_proj"), halves, strict=True):
                out[f"{old}.mlp.{name}.{kind}"] = part
            out[f"{old}.mlp.down_proj.{kind}"] = ours.pop(f"{new}.mlp.down.{kind}")
    if ours:  # a parameter without a tensor would stay uninitialised memory
        raise AssertionError(f"parameters that no Llama tensor fills: {', '.join(ours)}")
    return out


def _ignored(checkpoint: Checkpoint, config: DecoderConfig) -> frozenset[str]:
    """Keys that may be there and are not needed: old files store rotary tables, some a tied head a second time."""
    stored = checkpoint.keys
    tables = {key for key in stored if key.startswith("model.layers.") and key.endswith(".rotary_emb.inv_freq")}
    if config.tied_head and {_EMBEDDING, _HEAD} <= stored:
        if not stored_equal(checkpoint, _EMBEDDING, _HEAD):
            raise ModelError(
                f"{checkpoint.folder / CONFIG}: tie_word_embeddings is true, but {_HEAD} and {_EMBEDDING} differ: "
                "set it to false"
            )
        tables.add(_HEAD)
    return frozenset(tables)
