"""Load a checkpoint of any supported family (a Hugging Face folder or a GGUF file) as a Decoder."""

from __future__ import annotations

from pathlib import Path

import torch

from model.architectures.families import Family, decoder_config, family_of, unused_keys
from model.architectures.tensor_names import HEAD
from model.checkpoints.checkpoint import Checkpoint, check_keys, fill, stored_equal
from model.checkpoints.source import open_checkpoint
from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder
from model.decoder.rotary import rotary_table
from model.errors import ModelError
from model.hardware.memory import check_fits_memory


def load_decoder(folder: Path, *, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu") -> Decoder:
    """Load a Decoder in ``dtype`` on ``device``, in eval mode, without gradients.

    Configuration and headers are validated first. Then memory for the weights is allocated once and filled tensor by
    tensor. Raises ModelError if the checkpoint is invalid (naming the file and the field or key) or too large.
    """
    checkpoint = open_checkpoint(folder)
    config, family = read_config(checkpoint)
    model = shapes_only(checkpoint, config).to(dtype)
    targets = family.tensors(model, checkpoint.keys)
    embedding = next(key for key, target in targets.items() if target is model.embedding.weight)
    shapes = {key: tuple(target.shape) for key, target in targets.items()}
    check_keys(checkpoint, shapes, unused_keys(checkpoint.keys) | _second_head(checkpoint, config, embedding))
    rotary = 0 if model.rotary is None else 3 * model.rotary.cos.numel() * torch.float32.itemsize  # cos, sin and angles
    need = rotary + sum(parameter.nbytes for parameter in model.parameters())
    check_fits_memory(f"{folder}: the model in {str(dtype).removeprefix('torch.')}", need, device)
    try:
        model.to_empty(device=device)
    except RuntimeError as error:  # torch.OutOfMemoryError is one
        raise ModelError(
            f"{folder}: the model takes {need / 1e9:,.1f} GB, which cannot be allocated on {device}: use a "
            "smaller dtype, another device or a smaller model"
        ) from error
    if model.rotary is not None:  # not stored in checkpoints, and always in fp32
        model.rotary = rotary_table(config).to(device)
    fill(checkpoint, family.tensors(model, checkpoint.keys))
    return model.eval().requires_grad_(False)


def shapes_only(checkpoint: Checkpoint, config: DecoderConfig) -> Decoder:
    """Build a decoder on the meta device: with shapes, but without memory for its weights."""
    try:
        with torch.device("meta"):
            return Decoder(config)
    except (RuntimeError, OverflowError) as error:  # element counts that overflow an integer
        reason = str(error).splitlines()[0]
        raise ModelError(f"{checkpoint.where}: the config asks for tensors of impossible size ({reason})") from error


def read_config(checkpoint: Checkpoint) -> tuple[DecoderConfig, Family]:
    """Return the DecoderConfig and the family of a checkpoint. Raises ModelError naming file, field and value."""
    try:
        return decoder_config(checkpoint.config), family_of(checkpoint.config)
    except ModelError as error:
        raise ModelError(f"{checkpoint.where}: {error}") from error


def _second_head(checkpoint: Checkpoint, config: DecoderConfig, embedding: str) -> frozenset[str]:
    """Return the head's key if a tied head is stored again, as some tools do. Raises ModelError if the two differ."""
    if not config.tied_head or not {embedding, HEAD} <= checkpoint.keys:
        return frozenset()
    if not stored_equal(checkpoint, embedding, HEAD):
        raise ModelError(
            f"{checkpoint.where}: tie_word_embeddings is true, but {HEAD} and {embedding} differ: set it to false"
        )
    return frozenset((HEAD,))
