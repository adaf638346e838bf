"""Derive the seed of a sample from the sample's key, independent of order and batching."""

from __future__ import annotations

import hashlib


def derive_seed(run: int, question: str, arm: str, decoding: str, sample: int) -> int:
    """Return a seed in [0, 2**63) that depends only on the arguments (docs/architecture.md, rule 9).

    run: base seed of the run.
    question: ID of the question.
    arm: name of the arm.
    decoding: label of the decoding.
    sample: number of the sample.

    The seed is taken from a SHA-256 over the parts. Each part is preceded by its length in bytes, so that different
    lists of parts never collide by concatenation ("ab", "c" and "a", "bc").
    """
    digest = hashlib.sha256(b"plumbline/seed/1")
    for part in (str(run), question, arm, decoding, str(sample)):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return int.from_bytes(digest.digest()[:8], "big") >> 1
