"""Select the precision of weights and activations, by name or by hardware support."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from generation.errors import GenerationError
from model.hardware.device import bf16_pays

_PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class WeightPrecision:
    """The precision of weights and activations.

    dtype: data type of activations, and of weights that are not quantised. bits: bits per weight in the matrices of the
    transformer blocks, 4 or 8; 0 to keep them in ``dtype``. stored_only: whether to quantise only if a file already
    stores all matrices in groups of at most this many bits, so that nothing is rounded.
    """

    dtype: torch.dtype
    bits: int = 0
    stored_only: bool = False


def weight_precision(name: str, device: torch.device) -> WeightPrecision:
    """Return the precision with a name: fp32, bf16, int8, int4, auto, or "" for the default.

    int8 and int4 apply to weights; their activations are those of ``auto``. "" means fp32 on a CPU and ``auto`` on a
    GPU, because a run on CPUs must not depend on the CPU model. ``auto`` on a CPU also keeps the 4-bit and 8-bit blocks
    of a GGUF file. Raises GenerationError for another name, and for int4 on a GPU.
    """
    if name == "int4" and device.type != "cpu":
        raise GenerationError(f"precision int4 is supported on CPUs only, not on {device.type}: use bf16, int8 or auto")
    if name in ("int4", "int8"):
        return WeightPrecision(pick_precision("auto", device), bits=int(name.removeprefix("int")))
    if name == "auto" and device.type == "cpu":
        return WeightPrecision(pick_precision("auto", device), bits=8, stored_only=True)
    return WeightPrecision(pick_precision(name or ("auto" if device.type == "cuda" else "fp32"), device))


def pick_precision(name: str, device: torch.device) -> torch.dtype:
    """Return the data type for fp32, bf16 or ``auto``, which is bf16 on a GPU or CPU with instructions for it.

    Raises GenerationError for another name.
    """
    if name in _PRECISIONS:
        return _PRECISIONS[name]
    if name != "auto":
        raise GenerationError(f"precision {name} is not known: use fp32, bf16, int8, int4 or auto")
    return torch.bfloat16 if bf16_pays(device) else torch.float32
