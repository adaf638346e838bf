"""Select devices by name, and detect hardware support for bf16."""

from __future__ import annotations

import torch

from model.errors import ModelError


def pick_device(name: str) -> torch.device:
    """``auto`` (the GPU if there is one), ``cpu``, ``cuda`` or ``cuda:N``. Raises ModelError if it is not available."""
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
    """Return whether to compute matrix products in bf16: if the hardware has instructions for it.

    Decided by capability and not by timing, so that a machine's results do not depend on its load: embeddings and
    verdicts depend on the precision. A GPU is queried through torch; of CPUs, x86 with AVX512-BF16 or AMX-BF16.
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return bool(bf16_instructions())


def bf16_instructions() -> tuple[str, ...]:
    """The instruction sets of this CPU that multiply bf16; empty if there are none, or none that were tested."""
    found = torch.cpu.get_capabilities()
    return tuple(name for name in _BF16_INSTRUCTIONS if found.get(name, False))


_BF16_INSTRUCTIONS = ("avx512_bf16", "amx_bf16")
