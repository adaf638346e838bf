"""Control whether the C library keeps freed memory or returns it. Does not import torch."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # malloc.h of glibc


def keep_freed_memory() -> bool:
    """Make glibc keep large freed buffers instead of returning them to the system. Return whether it succeeded.

    A training step then takes a quarter of the time (docs/experiments/reader_training.md). Other C libraries are not
    supported.
    """
    try:
        libc = ctypes.CDLL("libc.so.6")
        return bool(libc.mallopt(_M_MMAP_MAX, 0)) and bool(libc.mallopt(_M_TRIM_THRESHOLD, 2**31 - 1))
    except (OSError, AttributeError):
        return False


def return_freed_memory() -> None:
    """Return freed memory to the system.

    Batches of many shapes fragment the heap: without this call a training process grew by 30 MB per step.
    """
    with suppress(OSError, AttributeError):  # other C libraries have no such function
        ctypes.CDLL("libc.so.6").malloc_trim(0)
