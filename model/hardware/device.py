"""Where and in which precision to compute: devices by name, and whether they multiply bf16 in hardware."""

from __future__ import annotations

import torch

from model.errors import ModelError


def pick_device(name: str) -> torch.device:
    """``auto`` (the GPU if there is one), ``cpu``, ``cuda`` or ``cuda:N``; ModelError when it is not there."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ModelError(f"{name!r} is not a device: use auto, cpu, cuda or cuda:N", parameter="device") from error
    if device.type not in ("cpu", "cuda"):
        raise ModelError(f"the device {name!r} is not supported: use auto, cpu, cuda or cuda:N", parameter="device")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise ModelError(f"there is no device {name!r}: this machine shows {count} CUDA devices", parameter="device")
    return device


def bf16_pays(device: torch.device) -> bool:
    """Whether matrix products are to be computed in bf16 here: where the hardware has instructions for it.

    By capability and not by a clock, so that one machine computes alike however busy it is: what is embedded or judged
    depends on it. A GPU is asked through torch; of CPUs, x86 with AVX512-BF16 or AMX-BF16.
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return bool(bf16_instructions())


def bf16_instructions() -> tuple[str, ...]:
    """The instruction sets of this CPU that multiply bf16; empty where there are none, or none that were tried."""
    found = torch.cpu.get_capabilities()
    return tuple(name for name in _BF16_INSTRUCTIONS if found.get(name, False))


_BF16_INSTRUCTIONS = ("avx512_bf16", "amx_bf16")
