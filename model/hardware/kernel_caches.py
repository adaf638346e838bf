"""Limit torch's cache of compiled CPU kernels. Does not import torch, because it must run before torch is loaded."""

from __future__ import annotations

import os
import sys

_CAPACITIES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")  # the caches of oneDNN and of torch
_KEPT = 8  # the four products of a layer, for the shapes of this batch and the previous one


def bound_kernel_caches() -> bool:
    """Limit the caches of oneDNN and torch to 8 kernels each instead of 1,024. Return False if torch is already loaded.

    Each batch shape has its own kernels, with working memory. Embedding texts sorted by length uses hundreds of shapes,
    and the limit saves about 30 % of the memory for about 3 % more processor time. Do not use it in a process whose
    shapes recur, such as a server or a decoder. Capacities set in the environment are not changed.
    """
    if "torch" in sys.modules:
        return False
    for name in _CAPACITIES:
        os.environ.setdefault(name, str(_KEPT))
    return True
