"""Seed of a sample: a pure function of the sample's key, independent of order and batching."""

from __future__ import annotations

import hashlib


def derive_seed(run: int, question: str, arm: str, decoding: str, sample: int) -> int:
    """A seed in [0, 2**63) that depends on its arguments only (docs/architecture.md, rule 9).

    run: the run's base seed. The seed is a SHA-256 over the parts, each preceded by its length in bytes, so that
    different lists of parts never collide by concatenation ("ab", "c" and "a", "bc").
    """
    digest = hashlib.sha256(b"plumbline/seed/1")
    for part in (str(run), question, arm, decoding, str(sample)):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return int.from_bytes(digest.digest()[:8], "big") >> 1
