"""Export a Decoder with Llama's architecture as a checkpoint folder for transformers and model.checkpoints.loading."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from model.architectures.tensor_names import llama_tensors
from model.checkpoints.checkpoint import CONFIG, INDEX, WEIGHTS
from model.checkpoints.files import write_json, write_tensors
from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder
from model.errors import ModelError

_NAMES: Final[Mapping[torch.dtype, str]] = {
    torch.float32: "float32",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
}
# A safetensors file contains its tensors and a header with about 150 bytes for each tensor.
_HEADER: Final = 16384


def largest_tensor_bytes(config: DecoderConfig, dtype: torch.dtype) -> int:
    """Return the bytes of the largest exported tensor, with a header: the minimum size of a checkpoint file."""
    rows = max(config.vocab_size, config.intermediate_size, config.num_heads * config.head_dim)
    return rows * config.hidden_size * dtype.itemsize + _HEADER


def save_llama(
    model: Decoder,
    folder: Path,
    *,
    end_id: int,
    pad_id: int | None = None,
    dtype: torch.dtype = torch.float16,
    shard_bytes: int | None = None,
) -> tuple[str, ...]:
    """Write config.json, generation_config.json and the weights in ``dtype``. Return the names of the weight files.

    end_id: token that begins and ends a text. shard_bytes: maximum size of a weight file; larger weights are split
    between tensors into model-00001-of-0000N.safetensors with an index, as Hugging Face does. None writes one file.

    An earlier export in the folder is replaced. Its config.json is removed first and the new one is written last, so
    that an interrupted export is not a valid checkpoint. Raises ModelError if Llama cannot express the config, a tensor
    is larger than a shard, a weight is not finite in ``dtype``, or the disk is full.
    """
    if dtype not in _NAMES:
        raise ModelError(f"weights in {dtype}: only float32, float16 and bfloat16 are written")
    config = llama_config_json(model.config, end_id, pad_id, dtype)
    tensors = {key: tensor.detach().to("cpu", dtype) for key, tensor in llama_tensors(model).items()}
    for key, tensor in tensors.items():
        if not bool(torch.isfinite(tensor).all()):
            raise ModelError(f"{key} holds a number that is not finite in {dtype}: write it in float32")
    files = _files(tensors, shard_bytes)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CONFIG).unlink(missing_ok=True)
        for old in (folder / WEIGHTS, folder / INDEX, *folder.glob("model-*-of-*.safetensors")):
            old.unlink(missing_ok=True)
        for name, part in files.items():
            write_tensors(folder / name, part, {"format": "pt"})
        if len(files) > 1:
            weight_map = {key: name for name, part in files.items() for key in part}
            size = sum(tensor.nbytes for tensor in tensors.values())
            write_json(folder / INDEX, {"metadata": {"total_size": size}, "weight_map": weight_map})
        generation = {"bos_token_id": end_id, "eos_token_id": end_id, "pad_token_id": pad_id}
        write_json(folder / "generation_config.json", {k: v for k, v in generation.items() if v is not None})
        write_json(folder / CONFIG, config)
    except OSError as error:
        raise ModelError(
            f"the model could not be written to {folder} ({error}): free disk space and try again"
        ) from error
    return tuple(files)


def llama_config_json(
    config: DecoderConfig, end_id: int, pad_id: int | None = None, dtype: torch.dtype = torch.float32
) -> dict[str, object]:
    """Return the config.json for ``config``; the inverse of ``llama_config``.

    Raises ModelError, naming the field, if LlamaForCausalLM does not support a value.
    """
    needed: dict[str, object] = {
        "norm": "rms",
        "norm_position": "pre",
        "positions": "rotary",
        "activation": "swiglu",
        "head": "linear",
        "embedding_norm": False,
        "prefix": False,
        "output_bias": config.attention_bias,
        "rope": None,
        "qk_norm": False,
        "windows": (),
        "unrotated": (),
    }
    for name, value in needed.items():
        if getattr(config, name) != value:
            raise ModelError(f"{name} is {getattr(config, name)!r}: a Llama checkpoint supports only {value!r}")
    out: dict[str, object] = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": config.num_layers,
        "num_attention_heads": config.num_heads,
        "num_key_value_heads": config.num_kv_heads,
        "head_dim": config.head_dim,
        "max_position_embeddings": config.max_positions,
        "hidden_act": "silu",
        "rms_norm_eps": config.norm_eps,
        # Readable by transformers 4 and transformers 5.
        "rope_theta": config.rope_theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": config.rope_theta},
        "attention_bias": config.attention_bias,
        "mlp_bias": config.mlp_bias,
        "tie_word_embeddings": config.tied_head,
        "bos_token_id": end_id,
        "eos_token_id": end_id,
        "pad_token_id": pad_id,
        "dtype": _NAMES[dtype],
        "torch_dtype": _NAMES[dtype],
    }
    return out


def _files(tensors: Mapping[str, Tensor], shard_bytes: int | None) -> dict[str, dict[str, Tensor]]:
    """Return the tensors of each file by file name, in model order. Raises ModelError if a tensor exceeds a shard."""
    groups: list[dict[str, Tensor]] = [{}]
    size = _HEADER
    for key, tensor in tensors.items():
        if shard_bytes is not None and _HEADER + tensor.nbytes > shard_bytes:
            raise ModelError(
                f"{key} takes {tensor.nbytes:,} bytes in {tensor.dtype}, a shard may have {shard_bytes:,} with its "
                "header: allow longer shards, a smaller dtype or a smaller vocabulary"
            )
        if shard_bytes is not None and groups[-1] and size + tensor.nbytes > shard_bytes:
            groups.append({})
            size = _HEADER
        groups[-1][key] = tensor
        size += tensor.nbytes
    if len(groups) == 1:
        return {WEIGHTS: groups[0]}
    return {f"model-{n:05d}-of-{len(groups):05d}.safetensors": part for n, part in enumerate(groups, start=1)}
