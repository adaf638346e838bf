"""Load a decoder with plain weights, with 4-bit or 8-bit groups, or with 8-bit channels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from generation.engine.precision import WeightPrecision
from model.checkpoints.gguf.files import is_gguf, open_gguf
from model.checkpoints.loading import load_decoder, read_config
from model.checkpoints.source import open_checkpoint
from model.decoder.decoder import Decoder
from model.decoder.packing import pack
from model.engine_state.int8 import int8_weights
from model.hardware.device import pick_device
from model.quantised.groups import GroupedMatrix
from model.quantised.quantise import has_kernels, matrix_shapes, odd_columns, quantise, unsupported


@dataclass(frozen=True, slots=True)
class LoadedDecoder:
    """A decoder that is ready for the engine. scheme: quantisation scheme of its weights; "" for none."""

    model: Decoder
    scheme: str


def load_for_engine(folder: Path, device: str, precision: WeightPrecision) -> LoadedDecoder:
    """Load and pack the decoder of a checkpoint folder or a GGUF file.

    Raises the errors of ``load_decoder``, and ModelError for 4-bit weights where they are not supported.
    """
    if precision.bits and (grouped := _grouped(folder, device, precision)) is not None:
        return grouped
    model = load_decoder(folder, device=device, dtype=precision.dtype)
    channels = precision.bits == 8 and not precision.stored_only
    if channels:
        model = int8_weights(model)
    pack(model)
    return LoadedDecoder(model, "int8" if channels else "")


def _grouped(folder: Path, device: str, precision: WeightPrecision) -> LoadedDecoder | None:
    """Return the decoder with weights quantised in groups; None if groups are not supported or not requested.

    Raises ModelError if 4-bit weights are requested but not supported, since they have no alternative.
    """
    config, _ = read_config(open_checkpoint(folder))
    on_cpu = pick_device(device).type == "cpu"
    possible = on_cpu and has_kernels() and not unsupported(config) and not odd_columns(config)
    if not possible and precision.bits != 4:
        return None
    stored = _stored(folder, config.num_layers) if possible else {}
    if precision.stored_only and set(stored) != set(matrix_shapes(config)):
        return None
    # Loaded in fp32, so that nothing is rounded twice. This takes 4 bytes for each weight during loading.
    model = load_decoder(folder, device=device)
    quantise(model, precision.bits, stored)
    rotary, model.rotary = model.rotary, None
    model.to(precision.dtype)
    model.rotary = rotary  # stays in fp32
    pack(model)
    return LoadedDecoder(model, f"groups of 32 in {precision.bits} bits")


def _stored(folder: Path, layers: int) -> dict[str, GroupedMatrix]:
    if not is_gguf(folder):
        return {}
    from model.checkpoints.gguf.blocks import stored_matrices

    with torch.inference_mode():
        return stored_matrices(open_gguf(folder), layers)
