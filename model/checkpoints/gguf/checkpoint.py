"""Open a GGUF file as a Checkpoint, with Hugging Face names for its tensors, which are dequantised on access."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from model.checkpoints.checkpoint import Checkpoint, StoredTensor
from model.checkpoints.gguf.config import architecture_of, config_fields
from model.checkpoints.gguf.files import GgufModel, open_gguf
from model.checkpoints.gguf.header import GgufTensor
from model.checkpoints.gguf.tensors import (
    ROPE_FACTORS,
    as_tensor,
    file_name,
    hugging_face_name,
    is_readable,
    is_transposed,
    permuted_heads,
    unpermuted,
)
from model.errors import ModelError

Change = Callable[[Tensor], Tensor]


def gguf_checkpoint(path: Path) -> Checkpoint:
    """Open a GGUF file, or any part of a split one, as a checkpoint. Tensor data is not read yet.

    Raises ModelError, naming the file and the key or tensor, for damaged or unsupported content.
    """
    model = open_gguf(path)
    config = config_fields(model)
    sources = _sources(model, config)
    stored = tuple(
        StoredTensor(key, tensor.file, _shape(tensor, model), tensor.type_name)
        for key, (tensor, _) in sorted(sources.items())
    )
    return Checkpoint(
        path,
        config,
        stored,
        config_name="metadata",
        dtypes=frozenset(tensor.dtype for tensor in stored),
        name_in_file=partial(file_name, gpt2=config["model_type"] == "gpt2"),
        open_file=partial(_opened, sources),
    )


def gguf_sources(model: GgufModel) -> dict[str, tuple[GgufTensor, Change]]:
    """Return for each Hugging Face name the tensor in the file and the function that reorders it for a Decoder.

    Raises ModelError as ``gguf_checkpoint`` does.
    """
    return _sources(model, config_fields(model))


def _sources(model: GgufModel, config: dict[str, object]) -> dict[str, tuple[GgufTensor, Change]]:
    """Return what ``gguf_sources`` does, for a known configuration."""
    architecture = architecture_of(model)
    gpt2 = architecture.model_type == "gpt2"
    sources: dict[str, tuple[GgufTensor, Change]] = {}
    for tensor in model.tensors:
        if tensor.name == ROPE_FACTORS and not gpt2:
            continue  # already part of the configuration
        key = hugging_face_name(tensor.name, gpt2=gpt2)
        if key is None:
            raise ModelError(
                f"{tensor.file}: tensor {tensor.name} is not supported in a model of architecture "
                f"{architecture.model_type}"
            )
        if not is_readable(tensor.type_name):
            raise ModelError(
                f"{tensor.file}: tensor {tensor.name} is {tensor.type_name}, which is not supported: use a file in "
                "another quantisation, e.g. Q8_0 or Q4_K_M"
            )
        sources[key] = tensor, _change(tensor, architecture.permuted, gpt2, config)
    return sources


def _change(tensor: GgufTensor, permuted: bool, gpt2: bool, config: dict[str, object]) -> Change:
    if gpt2 and is_transposed(tensor.name):
        return torch.t
    if permuted:
        heads, kv_heads = config.get("num_attention_heads"), config.get("num_key_value_heads")
        if isinstance(heads, int) and heads > 0:
            own = permuted_heads(tensor.name, heads, kv_heads if isinstance(kv_heads, int) and kv_heads > 0 else heads)
            if own is not None and tensor.shape[0] % (2 * own) == 0:  # other shapes are refused later
                return partial(unpermuted, heads=own)
    return lambda values: values


def _shape(tensor: GgufTensor, model: GgufModel) -> tuple[int, ...]:
    """Return the tensor's shape in transformers."""
    swapped = architecture_of(model).model_type == "gpt2" and is_transposed(tensor.name)
    return tensor.shape[::-1] if swapped else tensor.shape


class _Dequantised:
    """An OpenFile over the tensors of one GGUF file, by their Hugging Face names."""

    def __init__(self, sources: dict[str, tuple[GgufTensor, Change]]) -> None:
        self._sources = sources

    def get_tensor(self, name: str) -> Tensor:
        return as_tensor(*self._sources[name])


@contextmanager
def _opened(sources: dict[str, tuple[GgufTensor, Change]], path: Path) -> Iterator[_Dequantised]:
    yield _Dequantised({key: (tensor, change) for key, (tensor, change) in sources.items() if tensor.file == path})
