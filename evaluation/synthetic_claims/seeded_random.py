"""Random numbers that depend on the input, not on the order of processing."""

from __future__ import annotations

import hashlib
from random import Random


def seeded_random(seed: int, *parts: str) -> Random:
    """Return a generator seeded by the SHA-256 hash of the seed and the texts.

    It is the same on every machine and in any order of processing.
    """
    digest = hashlib.sha256("\x1f".join((str(seed), *parts)).encode("utf-8", "surrogatepass")).digest()
    return Random(int.from_bytes(digest[:8], "big"))
