from __future__ import annotations

from typing import Any

import torch

from benchmarks.gpu import measure


def test_the_gpu_benchmark_runs_on_a_cpu_with_tiny_shapes() -> None:
    found: dict[str, Any] = measure(torch.device("cpu"), tiny=True)
    assert found["parity"]["equal_to_uncached"] == found["parity"]["greedy_tokens"] == 8
    assert found["single"]["tokens"] == 8 and found["batch"]["tokens"] == 32
    assert found["samples_of_one_prompt"]["tokens"] == 32
    assert len(found["grid"]) == 3 and all(case["tokens"] == 32 for case in found["grid"].values())
