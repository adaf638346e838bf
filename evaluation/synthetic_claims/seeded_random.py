"""Random numbers that depend on what is worked on, never on the order of the work."""

from __future__ import annotations

import hashlib
from random import Random


def seeded_random(seed: int, *parts: str) -> Random:
    """A generator seeded by SHA-256 of the seed and the texts: the same on every machine and in every order."""
    digest = hashlib.sha256("\x1f".join((str(seed), *parts)).encode("utf-8", "surrogatepass")).digest()
    return Random(int.from_bytes(digest[:8], "big"))
