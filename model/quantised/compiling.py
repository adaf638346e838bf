"""Compile kernels with numba once per machine, and cache them on disk."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import njit

_LOG = logging.getLogger(__name__)
_SOURCES = ("kernel.py", "step_kernel.py", "../engine_state/row_kernel.py")


class CachedKernel:
    """A function that numba compiles in parallel mode at its first call, which takes seconds, or loads from its cache.

    If the cache cannot be written or read, the function is compiled for this process only, with a warning.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self._function = function
        # The name depends on all sources, because numba only checks whether the function's own file has changed.
        function.__qualname__ = f"{function.__qualname__}_{_sources_digest()}"
        self._kept = True
        self._kernel = self._compiled()

    def __call__(self, threads: int, *given: object) -> None:
        """Call the function with the given arguments, with at most ``threads`` threads."""
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        try:
            self._kernel(*given)
        except Exception as error:  # a full disk, or cached files that are truncated or of another version
            if not self._kept:
                raise
            _LOG.warning("the compiled kernel could not be kept or read (%s): compiled for this process", error)
            self._kept = False
            self._kernel = self._compiled()
            self._kernel(*given)

    def _compiled(self) -> Any:
        options = {"parallel": True, "nogil": True}
        if self._kept:
            try:
                return njit(**options, cache=True)(self._function)
            except RuntimeError:  # no folder is writable
                self._kept = False
        return njit(**options)(self._function)


@cache
def _sources_digest() -> str:
    """Return a digest of the kernels' source files, so that the caches of other versions are not used."""
    here = Path(__file__).parent
    return hashlib.sha256(b"".join((here / name).read_bytes() for name in _SOURCES)).hexdigest()[:12]
