"""Select devices by name, and detect hardware support for bf16."""

from __future__ import annotations

import torch

from model.errors import ModelError


def pick_device(name: str) -> torch.device:
    """Return the device of this name. Raises ModelError if it is unknown or not available.

    name: ``auto`` (the GPU if there is one, else the CPU), ``cpu``, ``cuda`` or ``cuda:N``.
    """
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
        raise ModelError(f"there is no device {name!r}: this machine has {count} CUDA devices", parameter="device")
    return device


def bf16_pays(device: torch.device) -> bool:
    """Return whether the hardware has instructions for matrix products in bf16, so that they are worth using.

    Timings are not used: embeddings and verdicts depend on the precision, and must not depend on the machine's load.
    CPUs need AVX512-BF16 or AMX-BF16.
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return bool(bf16_instructions())


def bf16_instructions() -> tuple[str, ...]:
    """Return the names of this CPU's supported instruction sets that multiply bf16; empty if there are none."""
    found = torch.cpu.get_capabilities()
    return tuple(name for name in _BF16_INSTRUCTIONS if found.get(name, False))


_BF16_INSTRUCTIONS = ("avx512_bf16", "amx_bf16")
