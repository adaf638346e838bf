"""Recognise and report out-of-memory errors."""

from __future__ import annotations

import torch

from generation.errors import GenerationError, OutOfMemoryError


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an exception means that a device ran out of memory."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    # PyTorch's CPU allocator raises a plain RuntimeError.
    return isinstance(error, RuntimeError) and "not enough memory" in str(error)


def out_of_memory(requests: int, cause: BaseException) -> GenerationError:
    """Return the error for the request that is failed to free memory. requests: number of running requests."""
    reason = OutOfMemoryError(
        f"out of memory while {requests} requests were running: request fewer samples or tokens at once, or lower "
        "max_rows, prefill_tokens or memory_bytes"
    )
    reason.__cause__ = cause
    return reason
