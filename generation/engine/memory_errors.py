"""Telling that memory ran out from other errors, and saying so."""

from __future__ import annotations

import torch

from generation.errors import GenerationError, OutOfMemoryError


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory could not be had, on whatever device."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    # The CPU allocator's own error is a plain RuntimeError.
    return isinstance(error, RuntimeError) and "not enough memory" in str(error)


def out_of_memory(requests: int, cause: BaseException) -> GenerationError:
    """What the one of ``requests`` that gives way is told."""
    reason = OutOfMemoryError(
        f"out of memory while {requests} requests were at work: ask for fewer samples or tokens at once, or lower "
        "max_rows, prefill_tokens or memory_bytes"
    )
    reason.__cause__ = cause
    return reason
