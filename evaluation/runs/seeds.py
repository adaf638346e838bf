"""The seed of one sample: a pure function of what the sample is, so that no order or batch can change it."""

from __future__ import annotations

import hashlib


def derive_seed(run: int, question: str, arm: str, decoding: str, sample: int) -> int:
    """A seed in [0, 2**63) that depends on its arguments only (docs/architecture.md, rule 9).

    run: the run's base seed. SHA-256 over the parts, each preceded by its length in bytes, so that no two lists
    of parts read the same ("ab", "c" and "a", "bc" differ).
    """
    digest = hashlib.sha256(b"plumbline/seed/1")
    for part in (str(run), question, arm, decoding, str(sample)):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return int.from_bytes(digest.digest()[:8], "big") >> 1
