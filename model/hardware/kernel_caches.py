"""How many compiled products torch keeps on a CPU. Needs no torch: it must be said before torch is loaded."""

from __future__ import annotations

import os
import sys

_CAPACITIES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")  # oneDNN's own, and that of torch around it
_KEPT = 8  # one layer's four products, for the shape of this batch and the one before


def bound_kernel_caches() -> bool:
    """Have oneDNN and torch keep 8 compiled products each instead of 1,024; False if torch is loaded already.

    Each shape of a batch has products of its own, with their working memory. Embedding texts sorted by length meets
    hundreds, one after the other: 7,000 texts left 969 MiB resident, and 685 with this, at some 3 % more processor time
    (MiniLM in bf16, one thread, one run each, 2026-11-22). Not for a process whose shapes come back: a server's, a
    decoder's. Capacities that the environment holds already stay.
    """
    if "torch" in sys.modules:
        return False
    for name in _CAPACITIES:
        os.environ.setdefault(name, str(_KEPT))
    return True
