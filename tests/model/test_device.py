"""Devices by name and the probes."""

from __future__ import annotations

import sys

import pytest
import torch

from model import device as probing
from model.device import bf16_pays, pick_device
from model.errors import ModelError
from model.freed_memory import keep_freed_memory, return_freed_memory


def test_devices_by_name() -> None:
    assert pick_device("cpu") == torch.device("cpu")
    assert pick_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize("name", ["gpu", "", "cuda:99", "mps", "meta", "cpu:x"])
def test_what_is_no_device_here_is_refused_by_name(name: str) -> None:
    with pytest.raises(ModelError, match=f"--device {name}:"):
        pick_device(name)


def test_probes() -> None:
    assert bf16_pays(torch.device("cpu")) in (True, False)
    assert keep_freed_memory() is (sys.platform == "linux")
    return_freed_memory()


@pytest.mark.parametrize(("small", "large", "pays"), [(20.0, 0.1, False), (2.0, 0.5, True), (0.5, 0.9, False)])
def test_where_bf16_is_emulated_the_large_product_is_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, small: float, large: float, pays: bool
) -> None:
    asked: list[int] = []

    def ratio(size: int) -> float:
        asked.append(size)
        return small if size == 128 else large

    monkeypatch.setattr(probing, "_ratio", ratio)
    assert probing._bf16_pays_on_cpu.__wrapped__() is pays
    assert asked == ([128] if small > 4 else [128, 512])
