"""Recognise and report out-of-memory errors."""

from __future__ import annotations

import torch

from generation.errors import GenerationError, OutOfMemoryError


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an exception means that memory ran out, on any device."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    # The CPU allocator's own error is a plain RuntimeError.
    return isinstance(error, RuntimeError) and "not enough memory" in str(error)


def out_of_memory(requests: int, cause: BaseException) -> GenerationError:
    """The error for the one of ``requests`` that is failed to free memory."""
    reason = OutOfMemoryError(
        f"out of memory while {requests} requests were at work: ask for fewer samples or tokens at once, or lower "
        "max_rows, prefill_tokens or memory_bytes"
    )
    reason.__cause__ = cause
    return reason
