"""Read quantised blocks of 32 numbers from a GGUF file: Q4_0, Q4_1 and Q8_0 (ggml-common.h, block_q4_0 and others)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from model.checkpoints.gguf.checkpoint import Change, gguf_sources
from model.checkpoints.gguf.files import GgufModel
from model.checkpoints.gguf.header import GgufTensor, raw_tensor
from model.quantised.groups import GROUP, GroupedMatrix, stacked

BLOCK_BITS: Mapping[str, int] = {"Q4_0": 4, "Q4_1": 4, "Q8_0": 8}
"""Bits of the ggml types that are used without conversion."""
_BYTES = {"Q4_0": 18, "Q4_1": 20, "Q8_0": 34}
_PARTS: Mapping[str, tuple[str, ...]] = {
    "attention.qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "attention.out": ("self_attn.o_proj",),
    "mlp.gate": ("mlp.gate_proj",),
    "mlp.up": ("mlp.up_proj",),
    "mlp.down": ("mlp.down_proj",),
}


def stored_matrices(model: GgufModel, layers: int) -> dict[str, GroupedMatrix]:
    """Return the matrices that are stored in Q4_0, Q4_1 or Q8_0 blocks, with rows in the order of a Decoder.

    The names are those of model.quantised.quantise. A matrix of another type, or with parts of different bits, is left
    out. layers: number of layers of the model.
    """
    sources = gguf_sources(model)
    keys_by_name = {
        f"blocks.{layer}.{name}": _keys(layer, parts) for layer in range(layers) for name, parts in _PARTS.items()
    }
    keys_by_name["head"] = ("lm_head.weight",) if "lm_head.weight" in sources else ("model.embed_tokens.weight",)
    out = {}
    for name, keys in keys_by_name.items():
        kinds = [sources[key][0].type_name if key in sources else "" for key in keys]
        if len({BLOCK_BITS.get(kind) for kind in kinds}) == 1 and kinds[0] in BLOCK_BITS:
            out[name] = stacked([_grouped(*sources[key]) for key in keys])
    return out


def _keys(layer: int, parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"model.layers.{layer}.{part}.weight" for part in parts)


def _grouped(tensor: GgufTensor, change: Change) -> GroupedMatrix:
    """Return a stored tensor as a grouped matrix. change: reorders the rows of its codes, scales and minima."""
    rows, size = tensor.shape[0], _BYTES[tensor.type_name]
    raw = np.asarray(raw_tensor(tensor)).reshape(rows, -1, size)  # (O, I / 32, bytes of a block)
    scales = _halves(raw[..., :2])
    if tensor.type_name == "Q8_0":
        codes = torch.from_numpy(raw[..., 2:].view(np.int8).copy())
        return GroupedMatrix(change(codes.view(rows, -1)), change(scales), None)
    begin = size - GROUP // 2
    pairs = raw[..., begin:]
    codes = torch.from_numpy(np.concatenate((pairs & 15, pairs >> 4), axis=-1)).view(rows, -1)
    minima = _halves(raw[..., 2:4]) if tensor.type_name == "Q4_1" else -8.0 * scales
    return GroupedMatrix(change(codes), change(scales), change(minima))


def _halves(pairs: np.ndarray) -> Tensor:
    """Return fp16 numbers, given as bytes (O, G, 2), in fp32: (O, G)."""
    return torch.from_numpy(np.ascontiguousarray(pairs).view(np.float16)[..., 0].astype(np.float32))
