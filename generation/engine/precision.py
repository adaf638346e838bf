"""The precision of weights and activations, by name or by what the machine can do."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from generation.errors import GenerationError
from model.hardware.device import bf16_pays

_PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class WeightPrecision:
    """dtype: of weights and activations. bits: the most that a number of the blocks' matrices has beside it, 4 or 8; 0
    for those of dtype. stored_only: only where a file has all of its matrices in blocks of so few bits already, so that
    nothing is rounded.
    """

    dtype: torch.dtype
    bits: int = 0
    stored_only: bool = False


def weight_precision(name: str, device: torch.device) -> WeightPrecision:
    """``pick_precision``'s names, ``int8`` and ``int4`` (activations as ``auto`` picks them); "" is fp32 on a CPU and
    ``auto`` on a GPU: a run on CPUs must not depend on which of them it was made on. ``auto`` on a CPU also
    keeps a GGUF file's own blocks of 4 and 8 bits.

    Raises GenerationError for another name, and for int4 on a GPU.
    """
    if name == "int4" and device.type != "cpu":
        raise GenerationError(f"precision int4 is for CPUs, not for {device.type}: use bf16, int8 or auto there")
    if name in ("int4", "int8"):
        return WeightPrecision(pick_precision("auto", device), bits=int(name.removeprefix("int")))
    if name == "auto" and device.type == "cpu":
        return WeightPrecision(pick_precision("auto", device), bits=8, stored_only=True)
    return WeightPrecision(pick_precision(name or ("auto" if device.type == "cuda" else "fp32"), device))


def pick_precision(name: str, device: torch.device) -> torch.dtype:
    """fp32, bf16, or ``auto``: bf16 on a GPU and on a CPU that have instructions for it.

    Raises GenerationError for another name.
    """
    if name in _PRECISIONS:
        return _PRECISIONS[name]
    if name != "auto":
        raise GenerationError(f"precision {name} is not known: use fp32, bf16, int8, int4 or auto")
    return torch.bfloat16 if bf16_pays(device) else torch.float32
