"""Which precision is picked: by name, and by what the machine measures, once."""

from __future__ import annotations

import pytest
import torch

from generation.engine.precision import WeightPrecision, bf16_gain, pick_precision, weight_precision
from generation.errors import GenerationError


def test_names_and_the_probe() -> None:
    cpu = torch.device("cpu")
    assert pick_precision("fp32", cpu) is torch.float32
    assert pick_precision("bf16", cpu) is torch.bfloat16
    with pytest.raises(GenerationError, match="fp8"):
        pick_precision("fp8", cpu)
    gain = bf16_gain()
    assert gain > 0
    assert pick_precision("auto", cpu) is (torch.bfloat16 if gain > 1.1 else torch.float32)
    assert bf16_gain() == gain  # asked once a process


def test_weights_default_to_what_no_probe_decides() -> None:
    cpu = torch.device("cpu")
    assert weight_precision("", cpu) == WeightPrecision(torch.float32)
    assert weight_precision("bf16", cpu) == WeightPrecision(torch.bfloat16)
    assert weight_precision("int8", cpu) == WeightPrecision(pick_precision("auto", cpu), int8=True)
    with pytest.raises(GenerationError, match=r"int4.*fp32, bf16, int8"):
        weight_precision("int4", cpu)
