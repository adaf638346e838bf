"""What an encoder is: text into vectors of length 1. Knows nothing of any library that makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from retrieval.chunking.chunker import TokenCounter
from retrieval.errors import RetrievalError


@runtime_checkable
class PicklableCounting(Protocol):
    """An encoder whose counting can be sent to other processes, so that they cut documents while it embeds."""

    def portable_counter(self) -> TokenCounter:
        """``count_tokens`` as a value that can be pickled."""


@runtime_checkable
class CompatibleQueries(Protocol):
    """An encoder whose queries also go with passages that were embedded a little differently."""

    @property
    def serves(self) -> frozenset[str]:
        """Fingerprints of the encoders of such passages, its own among them."""


@runtime_checkable
class ReleasableEncoder(Protocol):
    """An encoder that can give its memory back between calls."""

    def rest(self) -> None:
        """Give it back; the next call takes it again."""


class Encoder(Protocol):
    """Passages and queries into the same space, where the inner product is the cosine."""

    @property
    def fingerprint(self) -> str:
        """Hex digest of everything that determines the vectors; two encoders with the same one are interchangeable."""

    @property
    def dimension(self) -> int:
        """E, the length of a vector."""

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text are read, special tokens included; the rest is cut off silently."""

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, E) vectors of length 1. Raises RetrievalError naming the text if one is not finite."""

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, E) vectors of length 1. Raises RetrievalError naming the text if one is not finite."""

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Tokens of each text, without special tokens and without truncation."""


def serves(encoder: Encoder, fingerprint: str) -> bool:
    """Whether the encoder's queries may be put to passages of the encoder with this fingerprint."""
    if isinstance(encoder, CompatibleQueries):
        return fingerprint in encoder.serves
    return fingerprint == encoder.fingerprint


def unit_vectors(vectors: NDArray[np.float32], texts: Sequence[str], dimension: int) -> NDArray[np.float32]:
    """The (N, E) vectors divided by their L2 norms.

    Raises RetrievalError, naming the text, if a vector is not finite or is zero: it would be near to nothing or, worse,
    to everything, and no search would ever say so.
    """
    if vectors.shape != (len(texts), dimension):
        raise RetrievalError(f"the encoder gave vectors of shape {vectors.shape} for {len(texts)} texts of {dimension}")
    # In float64: the squares of large float32 values overflow, and a norm of infinity would pass for a tiny vector.
    norms = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1))
    bad = np.flatnonzero(~np.isfinite(norms) | (norms == 0))
    if bad.size:
        text = texts[int(bad[0])]
        raise RetrievalError(
            f"the encoder gave no usable vector for {bad.size} of {len(texts)} texts, the first of them {text[:80]!r}; "
            "check its weights, and its precision on this device"
        )
    return np.asarray(vectors / norms[:, None], dtype=np.float32)
