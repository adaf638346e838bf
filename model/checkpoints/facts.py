"""Summary of a checkpoint from its config.json and headers: sizes, context, positions, windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.checkpoints.checkpoint import Checkpoint
from model.checkpoints.loading import read_config, shapes_only
from model.decoder.config import DecoderConfig

_BYTES: Mapping[str, int] = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, slots=True)
class DTypeSize:
    """Sizes in bytes, in one dtype: of the weights, and of the KV cache for one token."""

    dtype: str
    weight_bytes: int
    cache_bytes_per_token: int


@dataclass(frozen=True, slots=True)
class DecoderFacts:
    """Facts of one checkpoint.

    stored: dtypes on disk, as safetensors names them. rope: kind of rotary positions; None for learned positions.
    unrotated_layers: number of layers without positions. window: largest sliding window; None without one.
    windowed_layers: number of layers with a sliding window.
    """

    family: str
    architecture: str
    layers: int
    parameters: int
    tied_head: bool
    sizes: tuple[DTypeSize, ...]
    stored: tuple[str, ...]
    context_length: int
    vocabulary: int
    rope: str | None
    rope_theta: float | None
    unrotated_layers: int
    window: int | None
    windowed_layers: int


def decoder_facts(checkpoint: Checkpoint) -> DecoderFacts:
    """Return the facts of a checkpoint. Raises ModelError if its configuration is invalid or not supported."""
    config, family = read_config(checkpoint)
    return config_facts(
        config,
        family=family.name,
        architecture=family.architecture,
        parameters=sum(parameter.numel() for parameter in shapes_only(checkpoint, config).parameters()),
        stored=tuple(sorted({tensor.dtype for tensor in checkpoint.tensors})),
    )


def config_facts(
    config: DecoderConfig,
    *,
    family: str,
    architecture: str,
    parameters: int,
    stored: tuple[str, ...],
    dtypes: tuple[str, ...] = tuple(_BYTES),
) -> DecoderFacts:
    """Return the facts of a decoder with this configuration. dtypes: compute dtypes to give sizes for."""
    windows = [window for window in config.windows if window is not None]
    rotary = config.positions == "rotary"
    return DecoderFacts(
        family=family,
        architecture=architecture,
        layers=config.num_layers,
        parameters=parameters,
        tied_head=config.tied_head,
        sizes=tuple(DTypeSize(d, parameters * _BYTES[d], cache_bytes(config, _BYTES[d])) for d in dtypes),
        stored=stored,
        context_length=config.max_positions,
        vocabulary=config.vocab_size,
        rope=(config.rope.kind if config.rope else "default") if rotary else None,
        rope_theta=config.rope_theta if rotary else None,
        unrotated_layers=len(config.unrotated),
        window=max(windows, default=None),
        windowed_layers=len(windows),
    )


def cache_bytes(config: DecoderConfig, itemsize: int) -> int:
    """Return the bytes that one token takes in the KV cache: 2 L Hkv D numbers (keys and values)."""
    return 2 * config.num_layers * config.num_kv_heads * config.head_dim * itemsize
