"""Telling that memory ran out from other errors."""

from __future__ import annotations

import torch


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory could not be had, on whatever device."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    # The CPU allocator's own error is a plain RuntimeError.
    return isinstance(error, RuntimeError) and "not enough memory" in str(error)
