"""Detect out-of-memory errors of any library, by type or message."""

from __future__ import annotations

import errno
import resource

_MESSAGES = (
    "failed to map segment",
    "cannot allocate memory",
    "can't allocate memory",
    "can't start new thread",
    "not enough memory",
    "out of memory",
)


def out_of_memory_message(error: BaseException) -> str | None:
    """Return a message for an out-of-memory error, including one that caused ``error``; None for other errors."""
    cause: BaseException | None = error
    while cause is not None:
        message = str(cause).lower()
        if (
            isinstance(cause, MemoryError)
            or getattr(cause, "errno", None) == errno.ENOMEM
            or any(known in message for known in _MESSAGES)
        ):
            return _advice()
        cause = cause.__cause__ or cause.__context__
    return None


def _advice() -> str:
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return "out of memory; finished work is kept. Process less data at once"
    return (
        f"out of memory: this process may use {limit >> 20} MiB of address space (ulimit -v); finished work "
        "is kept. Raise the limit, or remove it with ulimit -v unlimited"
    )
