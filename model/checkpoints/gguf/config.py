"""Convert a GGUF file's metadata to the fields of a config.json.

The keys are those of llama.cpp. An unknown key raises an error that names it, because it could change the results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import torch
from numpy.typing import NDArray

from model.checkpoints.gguf.files import GgufModel
from model.checkpoints.gguf.tensors import EMBEDDING, HEAD, ROPE_FACTORS, dequantised
from model.decoder.rope_scaling import Llama3Scaling, default_frequencies
from model.errors import ModelError

_ARCHITECTURE = "general.architecture"
# Metadata key without the architecture's name -> field of config.json.
_ROTARY_FIELDS: Mapping[str, str] = {
    "context_length": "max_position_embeddings",
    "block_count": "num_hidden_layers",
    "feed_forward_length": "intermediate_size",
    "embedding_length": "hidden_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.layer_norm_rms_epsilon": "rms_norm_eps",
    "attention.key_length": "head_dim",
    "rope.freq_base": "rope_theta",
}
_GPT2_FIELDS: Mapping[str, str] = {
    "context_length": "n_positions",
    "block_count": "n_layer",
    "feed_forward_length": "n_inner",
    "embedding_length": "n_embd",
    "attention.head_count": "n_head",
    "attention.layer_norm_epsilon": "layer_norm_epsilon",
}
# Keys without additional information, and keys that are read below.
_NEUTRAL = frozenset(
    (
        "vocab_size",
        "rope.dimension_count",
        "rope.scaling.type",
        "rope.scaling.factor",
        "rope.scaling.original_context_length",
        "rope.scaling.finetuned",
        "rope.scale_linear",
        "attention.value_length",
    )
)
# Keys that some converters write with a value that means "not used".
_UNUSED: Mapping[str, object] = {
    "expert_count": 0,
    "expert_used_count": 0,
    "attention.causal": True,
    "attention.sliding_window": 0,
    "rope.scaling.attn_factor": 1.0,
    "tensor_data_layout": "Meta AI original pth",
}
_LLAMA3 = tuple(Llama3Scaling(factor, 1.0, 4.0, 8192) for factor in (8.0, 32.0))


@dataclass(frozen=True, slots=True)
class GgufArchitecture:
    """A supported value of general.architecture.

    model_type, class_name: those of transformers. fields: maps a metadata key without the architecture's name to a
    field of config.json. permuted: whether query and key rows are stored in the order that llama.cpp rotates.
    """

    model_type: str
    class_name: str
    fields: Mapping[str, str]
    permuted: bool = False


ARCHITECTURES: Mapping[str, GgufArchitecture] = {
    "llama": GgufArchitecture("llama", "LlamaForCausalLM", _ROTARY_FIELDS, permuted=True),
    "smollm3": GgufArchitecture("smollm3", "SmolLM3ForCausalLM", _ROTARY_FIELDS, permuted=True),
    "qwen2": GgufArchitecture("qwen2", "Qwen2ForCausalLM", _ROTARY_FIELDS),
    "qwen3": GgufArchitecture("qwen3", "Qwen3ForCausalLM", _ROTARY_FIELDS),
    "gpt2": GgufArchitecture("gpt2", "GPT2LMHeadModel", _GPT2_FIELDS),
}


def architecture_of(model: GgufModel) -> GgufArchitecture:
    """Return the architecture of a model. Raises ModelError, naming general.architecture, if it is not supported."""
    name = model.metadata.get(_ARCHITECTURE)
    found = ARCHITECTURES.get(name) if isinstance(name, str) else None
    if found is None:
        _refuse(model, _ARCHITECTURE, name, f"only {', '.join(ARCHITECTURES)} are supported")
    return found


def config_fields(model: GgufModel) -> dict[str, object]:
    """Convert the metadata to fields of a config.json. Values are validated when these fields are read.

    Raises ModelError, naming the file and the key, for unsupported content.
    """
    architecture = architecture_of(model)
    prefix = f"{model.metadata[_ARCHITECTURE]}."
    own = {key.removeprefix(prefix): value for key, value in model.metadata.items() if key.startswith(prefix)}
    for key, value in own.items():
        if key in architecture.fields or key in _NEUTRAL or (key in _UNUSED and value == _UNUSED[key]):
            continue
        _refuse(model, prefix + key, value, "that is not supported")
    fields: dict[str, object] = {"model_type": architecture.model_type, "architectures": [architecture.class_name]}
    for key, field in architecture.fields.items():
        if key in own:
            fields[field] = _scalar(model, prefix + key, own[key])
        elif key in ("context_length", "block_count", "embedding_length", "attention.head_count"):
            raise ModelError(f"{model.path}: {prefix}{key} is missing from the metadata: the file is incomplete")
    rows = {tensor.name: tensor.shape[0] for tensor in model.tensors}
    if EMBEDDING not in rows:
        raise ModelError(f"{model.path} holds no tensor {EMBEDDING}: it is not a language model")
    fields["vocab_size"] = rows[EMBEDDING]
    fields["tie_word_embeddings"] = HEAD not in rows
    if architecture.fields is _ROTARY_FIELDS:
        fields |= _rotary(model, prefix, own, fields)
    return fields


def _rotary(
    model: GgufModel, prefix: str, own: Mapping[str, object], fields: Mapping[str, object]
) -> dict[str, object]:
    """Return the fields for the head dimension, biases and scaled positions."""
    rotary: dict[str, object] = {}
    heads, hidden = fields["num_attention_heads"], fields["hidden_size"]
    head_dim = fields.get("head_dim")
    if head_dim is None and isinstance(heads, int) and isinstance(hidden, int) and heads > 0:
        head_dim = hidden // heads
    rotary["head_dim"] = head_dim
    for key in ("rope.dimension_count", "attention.value_length"):
        if own.get(key, head_dim) != head_dim:
            _refuse(model, prefix + key, own[key], f"only the entire head, which is {head_dim}, is supported")
    rotary["attention_bias"] = "blk.0.attn_q.bias" in model.names
    rotary["mlp_bias"] = "blk.0.ffn_up.bias" in model.names
    if fields["model_type"] == "mistral":
        rotary["sliding_window"] = None
    rotary["rope_scaling"] = _scaling(model, prefix, own, fields, head_dim)
    return rotary


def _scaling(
    model: GgufModel,
    prefix: str,
    own: Mapping[str, object],
    fields: Mapping[str, object],
    head_dim: object,
) -> dict[str, object] | None:
    kind = own.get("rope.scaling.type", "none")
    linear = own.get("rope.scale_linear", own.get("rope.scaling.factor", 1.0))
    if ROPE_FACTORS in model.names:
        return _llama3(model, fields, head_dim)
    if kind == "none" or (kind == "linear" and linear in (1, 0)):
        return None
    if kind == "linear":
        return {"rope_type": "linear", "factor": linear}
    if kind != "yarn":
        _refuse(model, f"{prefix}rope.scaling.type", kind, "only none, linear and yarn are supported")
    scaling: dict[str, object] = {"rope_type": "yarn", "factor": own.get("rope.scaling.factor")}
    if (original := own.get("rope.scaling.original_context_length")) is not None:
        scaling["original_max_position_embeddings"] = original
    return scaling


def _llama3(model: GgufModel, fields: Mapping[str, object], head_dim: object) -> dict[str, object]:
    """Return the settings of Llama 3.1's scaling, of which a GGUF file stores only the resulting factors."""
    tensor = next(tensor for tensor in model.tensors if tensor.name == ROPE_FACTORS)
    factors: NDArray[np.float32] = dequantised(tensor)
    theta = fields.get("rope_theta", 10000.0)
    if isinstance(head_dim, int) and isinstance(theta, int | float) and factors.shape == (head_dim // 2,):
        plain = default_frequencies(head_dim, float(theta))
        for scaling in _LLAMA3:
            expected = plain / scaling.frequencies(head_dim, float(theta))
            if torch.allclose(expected, torch.from_numpy(factors), rtol=1e-4):
                return {
                    "rope_type": "llama3",
                    "factor": scaling.factor,
                    "low_freq_factor": scaling.low_freq_factor,
                    "high_freq_factor": scaling.high_freq_factor,
                    "original_max_position_embeddings": scaling.original_positions,
                }
    raise ModelError(
        f"{model.path}: the factors in {ROPE_FACTORS} are not those of Llama 3.1 or 3.2: this scaling of positions "
        "is not supported"
    )


def _scalar(model: GgufModel, key: str, value: object) -> object:
    """Return a number of the metadata. Raises ModelError for a list, one per layer, whose entries differ."""
    if isinstance(value, list):
        if value and all(item == value[0] for item in value):
            return value[0]
        _refuse(model, key, value, "layers of different sizes are not supported")
    if isinstance(value, str | bool):
        _refuse(model, key, value, "it must be a number")
    return value


def _refuse(model: GgufModel, key: str, value: object, rule: str) -> NoReturn:
    shown = repr(value)
    shown = shown if len(shown) <= 120 else shown[:120] + "..."
    raise ModelError(f"{model.path}: {key} is {shown}: {rule}")
