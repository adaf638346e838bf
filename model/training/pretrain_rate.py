"""Measure the device's matrix multiplication rate, the reference for a training run's speed."""

from __future__ import annotations

import time

import torch


def matrix_rate(device: torch.device, *, bf16: bool) -> float:
    """Floating-point operations per second of one large matrix product: the best of a few, in bf16 or fp32.

    A product of two n x n matrices is 2 n^3 operations; n is 8,192 on a GPU and 1,024 on a CPU.
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
