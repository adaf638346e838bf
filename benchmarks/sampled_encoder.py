"""An encoder that uses MiniLM for a sample of the batches and the fake encoder for the others.

It gives an index job the memory use of a real one at sizes that take hours to embed on two cores. Weights, torch and
complete batches at full length are in memory; only most of the matrix products are skipped. The vectors are of two
kinds, so the index's recall and any answer are meaningless.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.hashing_encoder import HashingEncoder
from retrieval.encoding.adapted import adapted
from retrieval.encoding.sentence_transformer import load_default_encoder

EVERY = 31  # not a divisor of the 32 calls between which the job sorts texts by length


class SampledEncoder(HashingEncoder):
    """An Encoder that calls MiniLM, with the settings of a new collection, for one call in EVERY."""

    def __init__(self) -> None:
        self._real = adapted(load_default_encoder(precision="auto"), None)
        super().__init__(self._real.dimension)
        self._calls = 0

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(f"sampled:{self._real.fingerprint}".encode()).hexdigest()

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._calls += 1
        if self._calls % EVERY == 1:
            return self._real.encode_passages(texts)
        return super().encode_passages(texts)
