"""Where and in which precision to compute: devices by name, and a probe for bf16."""

from __future__ import annotations

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


@cache
def _bf16_pays_on_cpu() -> bool:
    """The least of many times, taken in turns: beside other work a few in a row may all have waited for a core."""
    best = {torch.float32: float("inf"), torch.bfloat16: float("inf")}
    operands = {dtype: torch.ones(512, 512, dtype=dtype) for dtype in best}
    for _ in range(20):
        for dtype, a in operands.items():
            start = time.perf_counter()
            a @ a
            best[dtype] = min(best[dtype], time.perf_counter() - start)
    return best[torch.bfloat16] * 1.3 < best[torch.float32]
