"""Where and in which precision to compute: devices by name, and a probe for bf16."""

from __future__ import annotations

import math
import time
from functools import cache

import torch

from model.errors import ModelError


def pick_device(name: str) -> torch.device:
    """``auto`` (the GPU if there is one), ``cpu``, ``cuda`` or ``cuda:N``; ModelError when it is not there."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ModelError(f"--device {name}: not a device; use auto, cpu, cuda or cuda:N") from error
    if device.type not in ("cpu", "cuda"):
        raise ModelError(f"--device {name}: not supported; use auto, cpu, cuda or cuda:N")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ModelError(f"--device {name}: this machine shows {torch.cuda.device_count()} CUDA devices")
    return device


def bf16_pays(device: torch.device) -> bool:
    """Whether a matrix product is faster in bf16 than in fp32 here: measured, since CPUs differ by a factor of ten.

    A CPU is measured once a process, so that all that is computed in it is computed alike.
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return _bf16_pays_on_cpu()


_SMALL, _LARGE = 128, 512  # rows and columns
_HOPELESS = 4.0  # so many times slower
_TURNS = 20


@cache
def _bf16_pays_on_cpu() -> bool:
    """A large product decides. A small one first rules out CPUs that only emulate bf16: the large one takes seconds."""
    return _ratio(_SMALL) < _HOPELESS and _ratio(_LARGE) * 1.3 < 1


def _ratio(size: int) -> float:
    """Least seconds of a product in bf16 over the least in fp32.

    Of many, taken in turns: beside other work a few in a row may all have waited for a core.
    """
    best = {torch.float32: math.inf, torch.bfloat16: math.inf}
    operands = {dtype: torch.ones(size, size, dtype=dtype) for dtype in best}
    for _ in range(_TURNS):
        for dtype, a in operands.items():
            start = time.perf_counter()
            a @ a
            best[dtype] = min(best[dtype], time.perf_counter() - start)
    return best[torch.bfloat16] / best[torch.float32]
