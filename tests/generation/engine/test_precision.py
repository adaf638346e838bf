"""The precision is selected by name and by hardware support."""

from __future__ import annotations

import pytest
import torch

from generation.engine.precision import WeightPrecision, pick_precision, weight_precision
from generation.errors import GenerationError
from model.hardware.device import bf16_pays


def test_names_and_auto() -> None:
    cpu = torch.device("cpu")
    assert pick_precision("fp32", cpu) is torch.float32
    assert pick_precision("bf16", cpu) is torch.bfloat16
    with pytest.raises(GenerationError, match="fp8"):
        pick_precision("fp8", cpu)
    assert pick_precision("auto", cpu) is (torch.bfloat16 if bf16_pays(cpu) else torch.float32)


def test_weights_default_to_what_no_probe_decides() -> None:
    cpu = torch.device("cpu")
    assert weight_precision("", cpu) == WeightPrecision(torch.float32)
    assert weight_precision("bf16", cpu) == WeightPrecision(torch.bfloat16)
    for bits in (4, 8):
        assert weight_precision(f"int{bits}", cpu) == WeightPrecision(pick_precision("auto", cpu), bits=bits)
    assert weight_precision("auto", cpu) == WeightPrecision(pick_precision("auto", cpu), bits=8, stored_only=True)
    with pytest.raises(GenerationError, match=r"int3.*fp32, bf16, int8, int4"):
        weight_precision("int3", cpu)


def test_four_bits_are_for_cpus() -> None:
    with pytest.raises(GenerationError, match=r"int4.*cuda"):
        weight_precision("int4", torch.device("cuda"))
    assert weight_precision("bf16", torch.device("cuda")) == WeightPrecision(torch.bfloat16)
