"""Which precision pays on this machine: asked of the machine once a process, by short timed matrix products."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache

import torch
from torch.nn import functional as F

from generation.errors import GenerationError

_WIDTH, _INNER = 576, 1536  # of a small decoder: two of these do not fit the second-level cache of most cores
_ROWS = (1, 256)  # a decoding step and a prefill
_PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class WeightPrecision:
    """dtype: of weights and activations; int8: the blocks' matrices in 8 bits beside it (an approximation)."""

    dtype: torch.dtype
    int8: bool = False


def weight_precision(name: str, device: torch.device) -> WeightPrecision:
    """``pick_precision``'s names and ``int8`` (activations as ``auto`` picks them); "" is fp32 on a CPU and ``auto`` on
    a GPU: on a CPU ``auto`` is measured, and a run must not depend on what else the machine was doing then.

    Raises GenerationError for another name.
    """
    if name == "int8":
        return WeightPrecision(pick_precision("auto", device), int8=True)
    return WeightPrecision(pick_precision(name or ("auto" if device.type == "cuda" else "fp32"), device))


def pick_precision(name: str, device: torch.device) -> torch.dtype:
    """fp32, bf16, or ``auto``: bf16 on a GPU that has it, and on a CPU where it is faster in both of an engine's tasks.

    Raises GenerationError for another name.
    """
    if name in _PRECISIONS:
        return _PRECISIONS[name]
    if name != "auto":
        raise GenerationError(f"precision {name} is not known: use fp32, bf16, int8 or auto")
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    return torch.bfloat16 if bf16_gain() > 1.1 else torch.float32


@cache
def bf16_gain() -> float:
    """How many times faster bf16 is than fp32 on this CPU, in the worse of one row and many; takes about 0.1 s."""
    return min(_gain(rows) for rows in _ROWS)


def _gain(rows: int) -> float:
    spent = {dtype: _seconds(rows, dtype) for dtype in (torch.float32, torch.bfloat16)}
    return spent[torch.float32] / spent[torch.bfloat16]


def _seconds(rows: int, dtype: torch.dtype) -> float:
    """Least time of a product by each of a few matrices, so that they come from memory as a model's do."""
    random = torch.Generator().manual_seed(0)
    weights = [torch.randn(_INNER, _WIDTH, generator=random).to(dtype) for _ in range(8)]
    x = torch.randn(rows, _WIDTH, generator=random).to(dtype)
    best = float("inf")
    for _ in range(4):
        started = time.perf_counter()
        for weight in weights:
            F.linear(x, weight)
        best = min(best, time.perf_counter() - started)
    return best
