"""The precision of weights and activations, by name or by what the machine can do."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from generation.errors import GenerationError
from model.hardware.device import bf16_pays

_PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class WeightPrecision:
    """dtype: of weights and activations; int8: the blocks' matrices in 8 bits beside it (an approximation)."""

    dtype: torch.dtype
    int8: bool = False


def weight_precision(name: str, device: torch.device) -> WeightPrecision:
    """``pick_precision``'s names and ``int8`` (activations as ``auto`` picks them); "" is fp32 on a CPU and ``auto`` on
    a GPU: a run on CPUs must not depend on which of them it was made on.

    Raises GenerationError for another name.
    """
    if name == "int8":
        return WeightPrecision(pick_precision("auto", device), int8=True)
    return WeightPrecision(pick_precision(name or ("auto" if device.type == "cuda" else "fp32"), device))


def pick_precision(name: str, device: torch.device) -> torch.dtype:
    """fp32, bf16, or ``auto``: bf16 on a GPU and on a CPU that have instructions for it.

    Raises GenerationError for another name.
    """
    if name in _PRECISIONS:
        return _PRECISIONS[name]
    if name != "auto":
        raise GenerationError(f"precision {name} is not known: use fp32, bf16, int8 or auto")
    return torch.bfloat16 if bf16_pays(device) else torch.float32
