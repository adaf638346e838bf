"""Detect out-of-memory errors of any library, by type or message."""

from __future__ import annotations

import errno
import resource

_SAYS = (
    "failed to map segment",
    "cannot allocate memory",
    "can't allocate memory",
    "can't start new thread",
    "not enough memory",
    "out of memory",
)


def no_memory(error: BaseException) -> str | None:
    """Return a message for an out-of-memory error, including one that caused ``error``; None for other errors."""
    seen: BaseException | None = error
    while seen is not None:
        says = str(seen).lower()
        if (
            isinstance(seen, MemoryError)
            or getattr(seen, "errno", None) == errno.ENOMEM
            or any(s in says for s in _SAYS)
        ):
            return _advice()
        seen = seen.__cause__ or seen.__context__
    return None


def _advice() -> str:
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return "out of memory; finished work is kept. Process less at once"
    return (
        f"out of memory: this process may use {limit >> 20} MiB of address space (ulimit -v); finished work "
        "is kept. Raise the limit, or remove it with ulimit -v unlimited"
    )
