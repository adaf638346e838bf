"""Devices by name and the probes."""

from __future__ import annotations

import sys
import time

import pytest
import torch

from model.errors import ModelError
from model.hardware.device import bf16_pays, pick_device
from model.hardware.freed_memory import keep_freed_memory, return_freed_memory


def test_devices_by_name() -> None:
    assert pick_device("cpu") == torch.device("cpu")
    assert pick_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize("name", ["gpu", "", "cuda:99", "mps", "meta", "cpu:x"])
def test_what_is_no_device_here_is_refused_by_name(name: str) -> None:
    with pytest.raises(ModelError, match=f"'{name}'"):
        pick_device(name)


def test_probes() -> None:
    assert bf16_pays(torch.device("cpu")) in (True, False)
    assert keep_freed_memory() is (sys.platform == "linux")
    return_freed_memory()


@pytest.mark.parametrize(
    ("capabilities", "pays"),
    [
        ({"avx512_bf16": True}, True),
        ({"amx_bf16": True, "avx512_bf16": False}, True),
        ({"avx512_f": True, "avx2": True}, False),
        ({"bf16": True, "architecture": "aarch64"}, False),
        ({}, False),
    ],
)
def test_bf16_is_decided_by_instructions_and_never_by_a_clock(
    monkeypatch: pytest.MonkeyPatch, capabilities: dict[str, object], pays: bool
) -> None:
    def no_clock() -> float:
        raise AssertionError("a clock was looked at")

    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    monkeypatch.setattr(time, "perf_counter", no_clock)
    assert [bf16_pays(torch.device("cpu")) for _ in range(3)] == [pays] * 3
