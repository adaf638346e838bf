"""Bounding torch's caches of compiled products: before torch is loaded, and never over what the user says."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

import pytest

from model.hardware.kernel_caches import bound_kernel_caches

NAMES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
SHOWN = f"import os, json; print(json.dumps([os.environ.get(n) for n in {NAMES!r}]))"

# 400 shapes of one product each; what stays resident afterwards, in MiB.
GROWTH = """
import sys
from pathlib import Path
if sys.argv[1] == "bound":
    from model.hardware.kernel_caches import bound_kernel_caches
    assert bound_kernel_caches()
import torch
from model.hardware.freed_memory import return_freed_memory
from model.decoder.packing import PackedLinear, can_pack

def resident():
    return_freed_memory()
    line = next(text for text in Path("/proc/self/status").read_text().splitlines() if text.startswith("RssAnon"))
    return int(line.split()[1]) / 1024

if not can_pack(torch.device("cpu"), torch.float32):
    print("nan")
    raise SystemExit
torch.set_num_threads(1)
layer = PackedLinear(torch.ones(384, 384))
with torch.inference_mode():
    layer(torch.ones(1, 384))
    before = resident()
    for rows in range(1, 401):
        layer(torch.ones(rows, 384))
print(resident() - before)
"""


def run(code: str, *arguments: str, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in NAMES}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=kept | environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_said_before_torch_is_loaded() -> None:
    script = "from model.hardware.kernel_caches import bound_kernel_caches as b; assert b(); assert b();"
    assert run(script + SHOWN) == '["8", "8"]'


def test_what_the_environment_says_stays() -> None:
    script = "from model.hardware.kernel_caches import bound_kernel_caches as b; assert b();"
    assert run(script + SHOWN, LRU_CACHE_CAPACITY="77") == '["8", "77"]'


def test_too_late_once_torch_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAMES[0], raising=False)
    importlib.import_module("torch")
    assert bound_kernel_caches() is False
    assert NAMES[0] not in os.environ


@pytest.mark.drill
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_products_of_many_shapes_leave_less_memory_behind() -> None:
    free, bound = float(run(GROWTH, "free")), float(run(GROWTH, "bound"))
    if free != free:
        pytest.skip("this CPU's products are not packed")
    assert bound < free / 2
