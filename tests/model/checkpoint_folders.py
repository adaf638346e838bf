"""Write a tiny Llama checkpoint by hand, in one file or in two shards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from model.checkpoints.checkpoint import INDEX, WEIGHTS

CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": 13,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 16,
}
QUERY = "model.layers.1.self_attn.q_proj.weight"


def tensors() -> dict[str, torch.Tensor]:
    """Return the tensors of CONFIG by their Hugging Face names."""
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (13, 8),
        "model.norm.weight": (8,),
        "lm_head.weight": (13, 8),
    }
    for layer in ("model.layers.0.", "model.layers.1."):
        shapes |= {
            layer + "input_layernorm.weight": (8,),
            layer + "post_attention_layernorm.weight": (8,),
            layer + "self_attn.q_proj.weight": (8, 8),
            layer + "self_attn.k_proj.weight": (4, 8),
            layer + "self_attn.v_proj.weight": (4, 8),
            layer + "self_attn.o_proj.weight": (8, 8),
            layer + "mlp.gate_proj.weight": (12, 8),
            layer + "mlp.up_proj.weight": (12, 8),
            layer + "mlp.down_proj.weight": (8, 12),
        }
    generator = torch.Generator().manual_seed(0)
    return {key: torch.randn(shape, generator=generator) for key, shape in shapes.items()}


def write(folder: Path, content: dict[str, torch.Tensor] | None = None, **config: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG | config), "utf-8")
    save_file(tensors() if content is None else content, folder / WEIGHTS)
    return folder


def write_sharded(folder: Path) -> Path:
    """Write two shards, with odd keys in b and even keys in a. Return the folder."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG), "utf-8")
    items = sorted(tensors().items())
    shards = {"a.safetensors": dict(items[::2]), "b.safetensors": dict(items[1::2])}
    for name, content in shards.items():
        save_file(content, folder / name)
    placed = {key: name for name, content in shards.items() for key in content}
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": placed}), "utf-8")
    return folder
