"""Errors that mean that this process may not have more memory, whatever words the libraries have for it."""

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
    """What to tell a person where an error means that memory ran out; None where it means something else."""
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
        return "out of memory; what was finished before is kept. Ask for less at once"
    return (
        f"out of memory: this process may have {limit >> 20} MiB of address space (ulimit -v); what was finished "
        "before is kept. Raise the limit, or take it away with ulimit -v unlimited"
    )
