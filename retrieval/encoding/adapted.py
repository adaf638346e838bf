"""Encoders with several modes of encoding passages, and the choice of a collection's mode.

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
    """An Encoder that supports several modes of encoding passages. ``encode_passages`` uses one of them."""

    @property
    def passage_modes(self) -> tuple[str, ...]:
        """Fingerprints of the supported modes. The mode that suits new collections on this machine best is first."""

    @property
    def serves(self) -> frozenset[str]:
        """Fingerprints of all encoders whose passages this encoder's queries can be compared with."""

    def encode_passages_as(self, texts: Sequence[str], mode: str) -> NDArray[np.float32]:
        """Return the (N, E) vectors of passages. mode: fingerprint of the mode, one of ``passage_modes``."""

    def portable_counter(self) -> TokenCounter:
        """Return a picklable version of ``count_tokens``."""


def adapted(encoder: Encoder, indexed_with: str | None) -> Encoder:
    """Return the encoder in the mode that a collection was indexed with.

    indexed_with: fingerprint that the collection was indexed with, None for a new collection. If the encoder does not
    have this mode, its first mode is used. An encoder without modes is returned unchanged.
    """
    if not isinstance(encoder, AdaptableEncoder):
        return encoder
    mode = indexed_with if indexed_with in encoder.passage_modes else encoder.passage_modes[0]
    return encoder if mode == encoder.fingerprint else AdaptedEncoder(encoder, mode)


class AdaptedEncoder:
    """An adaptable encoder fixed to one of its modes. Errors are those of the wrapped encoder."""

    def __init__(self, encoder: AdaptableEncoder, mode: str) -> None:
        """mode: fingerprint of the mode, one of ``encoder.passage_modes``."""
        self._encoder = encoder
        self._mode = mode

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the mode."""
        return self._mode

    @property
    def serves(self) -> frozenset[str]:
        """Fingerprints of the encoders whose passages this encoder's queries can be compared with."""
        return self._encoder.serves

    @property
    def dimension(self) -> int:
        """E, the length of a vector."""
        return self._encoder.dimension

    @property
    def max_tokens(self) -> int:
        """Largest number of tokens that are read from a text."""
        return self._encoder.max_tokens

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the (N, E) unit vectors of passages."""
        return self._encoder.encode_passages_as(texts, self._mode)

    def encode_calls_as(self, calls: Iterable[Sequence[str]], mode: str) -> Iterator[NDArray[np.float32]]:
        """Yield the (N, E) vectors of each call's passages, in order. Calls run concurrently if the encoder can."""
        if isinstance(self._encoder, ConcurrentEncoder):
            return self._encoder.encode_calls_as(calls, mode)
        return (self._encoder.encode_passages_as(texts, mode) for texts in calls)

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the (N, E) unit vectors of queries, which are the same in every mode."""
        return self._encoder.encode_queries(texts)

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the number of tokens of each text, without special tokens and without truncation."""
        return self._encoder.count_tokens(texts)

    def portable_counter(self) -> TokenCounter:
        """Return a picklable version of ``count_tokens``."""
        return self._encoder.portable_counter()

    def release(self) -> None:
        """Release the wrapped encoder's memory, if it supports that."""
        if isinstance(self._encoder, ReleasableEncoder):
            self._encoder.release()
