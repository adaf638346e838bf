"""Map the tensors of a GGUF file to their Hugging Face names, and dequantise them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np
import torch
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize
from numpy.typing import NDArray
from torch import Tensor

from model.checkpoints.gguf.header import GgufTensor, raw_tensor
from model.errors import ModelError

EMBEDDING, HEAD, ROPE_FACTORS = "token_embd.weight", "output.weight", "rope_freqs.weight"
_BLOCK = re.compile(r"blk\.(?P<layer>\d{1,4})\.(?P<part>[a-z_]+)\.(?P<kind>weight|bias)")
_LAYER = re.compile(r"(model\.layers|transformer\.h)\.(?P<layer>\d+)\.(?P<part>.+)\.(?P<kind>weight|bias)")
_ROTARY: Mapping[str, str] = {
    EMBEDDING: "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    HEAD: "lm_head.weight",
}
_ROTARY_BLOCK: Mapping[str, str] = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_GPT2: Mapping[str, str] = {
    EMBEDDING: "transformer.wte.weight",
    "position_embd.weight": "transformer.wpe.weight",
    "output_norm.weight": "transformer.ln_f.weight",
    "output_norm.bias": "transformer.ln_f.bias",
    HEAD: "lm_head.weight",
}
_GPT2_BLOCK: Mapping[str, str] = {
    "attn_norm": "ln_1",
    "ffn_norm": "ln_2",
    "attn_qkv": "attn.c_attn",
    "attn_output": "attn.c_proj",
    "ffn_up": "mlp.c_fc",
    "ffn_down": "mlp.c_proj",
}
_GPT2_MATRICES = frozenset(("attn_qkv", "attn_output", "ffn_up", "ffn_down"))


def hugging_face_name(name: str, *, gpt2: bool) -> str | None:
    """Return transformers' name of a GGUF tensor; None if it has none."""
    direct, parts = (_GPT2, _GPT2_BLOCK) if gpt2 else (_ROTARY, _ROTARY_BLOCK)
    if (found := _BLOCK.fullmatch(name)) is None:
        return direct.get(name)
    part = parts.get(found["part"])
    layers = "transformer.h" if gpt2 else "model.layers"
    return None if part is None else f"{layers}.{found['layer']}.{part}.{found['kind']}"


def file_name(key: str, *, gpt2: bool) -> str:
    """Return the GGUF name of the tensor that transformers calls ``key``; ``key`` if it has none."""
    direct, parts = (_GPT2, _GPT2_BLOCK) if gpt2 else (_ROTARY, _ROTARY_BLOCK)
    for name, ours in direct.items():
        if ours == key:
            return name
    if (found := _LAYER.fullmatch(key)) is None:
        return key
    part = next((name for name, ours in parts.items() if ours == found["part"]), None)
    return key if part is None else f"blk.{found['layer']}.{part}.{found['kind']}"


def is_transposed(name: str) -> bool:
    """Return whether transformers' GPT-2 stores this tensor as input by output, the transpose of GGUF's layout."""
    found = _BLOCK.fullmatch(name)
    return found is not None and found["part"] in _GPT2_MATRICES and found["kind"] == "weight"


def permuted_heads(name: str, heads: int, kv_heads: int) -> int | None:
    """Return the number of heads in a query or key tensor; None for other tensors."""
    found = _BLOCK.fullmatch(name)
    return {"attn_q": heads, "attn_k": kv_heads}.get(found["part"]) if found else None


def unpermuted(rows: Tensor, heads: int) -> Tensor:
    """Reorder rows (heads * D, ...) from llama.cpp's order to that of transformers.

    llama.cpp rotates adjacent rows together, transformers rows D / 2 apart: row 2 i + s of a head becomes row s D / 2 +
    i (the inverse of LlamaModel.permute in llama.cpp's convert_hf_to_gguf.py).
    """
    return rows.view(heads, -1, 2, *rows.shape[1:]).transpose(1, 2).reshape(rows.shape)


def is_readable(type_name: str) -> bool:
    """Return whether ``gguf`` can dequantise a ggml type, by a test with one block of zeros."""
    kind = GGMLQuantizationType[type_name]
    if kind.name.startswith("I") and kind.name[1:].isdigit():  # integers, not quantised numbers
        return False
    try:
        _dequantised(np.zeros((1, GGML_QUANT_SIZES[kind][1]), np.uint8), kind)
    except NotImplementedError:
        return False
    return True


def dequantised(tensor: GgufTensor) -> NDArray[np.float32]:
    """Return a tensor's numbers in fp32, with its shape. Raises ModelError for an unsupported type."""
    kind = GGMLQuantizationType[tensor.type_name]
    block, block_bytes = GGML_QUANT_SIZES[kind]
    row_bytes = tensor.shape[-1] // block * block_bytes
    try:
        values = _dequantised(np.asarray(raw_tensor(tensor)).reshape(-1, row_bytes), kind)
    except NotImplementedError as error:
        raise ModelError(f"{tensor.file}: tensor {tensor.name} is {kind.name}, which cannot be read") from error
    return values.reshape(tensor.shape)


def _dequantised(rows: NDArray[np.uint8], kind: GGMLQuantizationType) -> NDArray[np.float32]:
    """Return rows (N, bytes of a row) of a ggml type as fp32 numbers: (N, numbers of a row)."""
    plain = {GGMLQuantizationType.F32: np.float32, GGMLQuantizationType.F16: np.float16}.get(kind)
    if plain is not None:
        return rows.view(plain).astype(np.float32)
    with np.errstate(all="ignore"):  # numbers that are not finite raise an error after loading
        return np.asarray(dequantize(rows, kind), np.float32)


def as_tensor(tensor: GgufTensor, change: Callable[[Tensor], Tensor]) -> Tensor:
    """Return a tensor's numbers in fp32, reordered by ``change``."""
    return change(torch.from_numpy(np.ascontiguousarray(dequantised(tensor))))
