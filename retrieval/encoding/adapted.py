"""Encoders with several passage modes, and the choice of the mode for a collection.

Each mode has its own fingerprint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from retrieval.chunking.chunker import TokenCounter
from retrieval.encoding.encoder import ConcurrentEncoder, Encoder, ReleasableEncoder


@runtime_checkable
class AdaptableEncoder(Encoder, Protocol):
    """An Encoder that supports several passage modes. Without a choice it uses one of them."""

    @property
    def ways(self) -> tuple[str, ...]:
        """Fingerprints of the supported passage modes; the preferred one for new collections on this machine comes
        first.
        """

    @property
    def serves(self) -> frozenset[str]:
        """Fingerprints of all encoders whose passages its queries are compatible with."""

    def encode_passages_as(self, texts: Sequence[str], way: str) -> NDArray[np.float32]:
        """Encode passages in the mode with that fingerprint, one of ``ways``."""

    def portable_counter(self) -> TokenCounter:
        """A picklable version of ``count_tokens``."""


def adapted(encoder: Encoder, indexed_with: str | None) -> Encoder:
    """Return the encoder for a job on a collection, in the mode that the collection was indexed with.

    indexed_with: the fingerprint that the collection was indexed with; None for a new one. If it is not one of the
    encoder's modes, the first mode is used. An encoder without modes is returned unchanged.
    """
    if not isinstance(encoder, AdaptableEncoder):
        return encoder
    way = indexed_with if indexed_with in encoder.ways else encoder.ways[0]
    return encoder if way == encoder.fingerprint else AdaptedEncoder(encoder, way)


class AdaptedEncoder:
    """An adaptable encoder fixed to one of its modes. Errors are those of the wrapped encoder."""

    def __init__(self, encoder: AdaptableEncoder, way: str) -> None:
        """way: one of ``encoder.ways``."""
        self._encoder = encoder
        self._way = way

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the mode."""
        return self._way

    @property
    def serves(self) -> frozenset[str]:
        """Fingerprints of the encoders whose passages its queries are compatible with."""
        return self._encoder.serves

    @property
    def dimension(self) -> int:
        """E, the length of a vector."""
        return self._encoder.dimension

    @property
    def max_tokens(self) -> int:
        """Maximum number of tokens read from a text."""
        return self._encoder.max_tokens

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, E) vectors of length 1."""
        return self._encoder.encode_passages_as(texts, self._way)

    def encode_calls_as(self, calls: Iterable[Sequence[str]], way: str) -> Iterator[NDArray[np.float32]]:
        """(N, E) vectors of each call's passages, in order; at once if the wrapped encoder supports that."""
        if isinstance(self._encoder, ConcurrentEncoder):
            return self._encoder.encode_calls_as(calls, way)
        return (self._encoder.encode_passages_as(texts, way) for texts in calls)

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, E) vectors of length 1; the same in every mode."""
        return self._encoder.encode_queries(texts)

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the number of tokens of each text, without special tokens and without truncation."""
        return self._encoder.count_tokens(texts)

    def portable_counter(self) -> TokenCounter:
        """A picklable version of ``count_tokens``."""
        return self._encoder.portable_counter()

    def rest(self) -> None:
        """Release the wrapped encoder's memory, if it supports that."""
        if isinstance(self._encoder, ReleasableEncoder):
            self._encoder.rest()
