"""Measure the rate of matrix products on a device, as a reference for the speed of a training run."""

from __future__ import annotations

import time

import torch


def matrix_rate(device: torch.device, *, bf16: bool) -> float:
    """Return the floating-point operations per second of the fastest of a few large matrix products.

    bf16: whether to measure in bf16 instead of fp32. A product of two n x n matrices counts as 2 n^3 operations; n is
    8,192 on a GPU and 1,024 on a CPU.
    """
    size, tries = (8192, 10) if device.type == "cuda" else (1024, 4)
    dtype = torch.bfloat16 if bf16 else torch.float32
    a, b = (torch.ones(size, size, dtype=dtype, device=device) for _ in range(2))
    best = float("inf")
    for _ in range(tries):
        _wait(device)
        start = time.perf_counter()
        a @ b
        _wait(device)
        best = min(best, time.perf_counter() - start)
    return 2.0 * size**3 / max(best, 1e-9)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
