"""Define the Encoder interface, which maps texts to unit vectors, independent of an embedding library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from retrieval.chunking.chunker import TokenCounter
from retrieval.errors import RetrievalError


@runtime_checkable
class PicklableCounting(Protocol):
    """An encoder whose token counter can be pickled, so that other processes can chunk documents while it embeds."""

    def portable_counter(self) -> TokenCounter:
        """Return a picklable version of ``count_tokens``."""


@runtime_checkable
class CompatibleQueries(Protocol):
    """An encoder whose queries can be compared with passages of several encoders."""

    @property
    def serves(self) -> frozenset[str]:
        """Fingerprints of these encoders, including its own."""


@runtime_checkable
class ReleasableEncoder(Protocol):
    """An encoder that can release its memory between calls."""

    def release(self) -> None:
        """Release the memory. The next call allocates it again."""


@runtime_checkable
class ConcurrentEncoder(Protocol):
    """An encoder that runs several calls concurrently."""

    def encode_calls_as(self, calls: Iterable[Sequence[str]], mode: str) -> Iterator[NDArray[np.float32]]:
        """Yield the (N, E) vectors of each call's passages, in order; the same as for sequential calls.

        mode: fingerprint of the passage mode.
        """


class Encoder(Protocol):
    """An encoder of passages and queries into one space, in which the inner product is the cosine similarity."""

    @property
    def fingerprint(self) -> str:
        """Hex digest of everything that determines the vectors. Encoders with equal fingerprints are equivalent."""

    @property
    def dimension(self) -> int:
        """E, the length of a vector."""

    @property
    def max_tokens(self) -> int:
        """Largest number of tokens read from a text, including special tokens. Longer texts are truncated silently."""

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the (N, E) unit vectors of passages. Raises RetrievalError, naming the text, if one is not finite."""

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the (N, E) unit vectors of queries. Raises RetrievalError, naming the text, if one is not finite."""

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the number of tokens of each text, without special tokens and without truncation."""


def serves(encoder: Encoder, fingerprint: str) -> bool:
    """Return whether the encoder's queries can be compared with passages of the encoder with this fingerprint."""
    if isinstance(encoder, CompatibleQueries):
        return fingerprint in encoder.serves
    return fingerprint == encoder.fingerprint


def encode_calls(encoder: Encoder, calls: Iterable[Sequence[str]]) -> Iterator[NDArray[np.float32]]:
    """Yield the (N, E) vectors of each call of ``encode_passages``, in order. Calls run concurrently if supported."""
    if isinstance(encoder, ConcurrentEncoder):
        return encoder.encode_calls_as(calls, encoder.fingerprint)
    return map(encoder.encode_passages, calls)


def unit_vectors(vectors: NDArray[np.float32], texts: Sequence[str], dimension: int) -> NDArray[np.float32]:
    """Return the (N, E) vectors divided by their L2 norms.

    Raises RetrievalError, naming the text, if a vector is zero or not finite. Such a vector would match nothing or
    everything, and no search would report the error.
    """
    if vectors.shape != (len(texts), dimension):
        raise RetrievalError(
            f"the encoder returned vectors of the shape {vectors.shape} for {len(texts)} texts, but has {dimension} "
            "dimensions"
        )
    # Computed in float64, because squares of large float32 values overflow, and an infinite norm would give a vector 0.
    norms = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1))
    bad = np.flatnonzero(~np.isfinite(norms) | (norms == 0))
    if bad.size:
        text = texts[int(bad[0])]
        raise RetrievalError(
            f"the encoder returned no usable vector for {bad.size} of {len(texts)} texts, the first of them "
            f"{text[:80]!r}; check its weights, and its precision on this device"
        )
    return np.asarray(vectors / norms[:, None], dtype=np.float32)
