"""Check the free memory before weights are loaded."""

from __future__ import annotations

from pathlib import Path

import torch

from model.errors import ModelError


def available_bytes(device: torch.device | str) -> int | None:
    """Return the bytes available without swapping, on a GPU or in the system; None if unknown.

    A container's memory limit is respected, because a process above it is killed without a message.
    """
    where = torch.device(device)
    if where.type == "cuda":
        return int(torch.cuda.mem_get_info(where)[0])
    try:
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    free = int(found[0]) * 1024 if found else None
    try:
        group = Path("/sys/fs/cgroup")
        limit, used = ((group / name).read_text("ascii").strip() for name in ("memory.max", "memory.current"))
    except OSError:
        return free
    left = int(limit) - int(used) if limit.isdecimal() and used.isdecimal() else None
    return free if left is None else max(0, left if free is None else min(free, left))


def check_fits_memory(what: str, need: int, device: torch.device | str) -> None:
    """Raise ModelError if more memory is needed than is free, because the operating system would kill the process.

    what: the object, for the message. need: its size in bytes.
    """
    free = available_bytes(device)
    if free is not None and need > free:
        raise ModelError(
            f"{what} takes {need / 1e9:,.1f} GB, {device} has {free / 1e9:,.1f} GB free: use a smaller dtype, another "
            "device or a smaller model"
        )
