"""An encoder that embeds passages in one of several ways, each another fingerprint: which of them a collection gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from retrieval.chunking.chunker import TokenCounter
from retrieval.encoding.encoder import Encoder, ReleasableEncoder


@runtime_checkable
class AdaptableEncoder(Encoder, Protocol):
    """An Encoder that leaves open how passages are embedded; used as it is, it is one of its ways."""

    @property
    def ways(self) -> tuple[str, ...]:
        """Fingerprints of the encoders whose passages it can make; the one to take for new ones here comes first."""

    @property
    def serves(self) -> frozenset[str]:
        """Fingerprints of all encoders whose passages its queries go with."""

    def encode_passages_as(self, texts: Sequence[str], way: str) -> NDArray[np.float32]:
        """``encode_passages`` of the encoder with that fingerprint, one of ``ways``."""

    def portable_counter(self) -> TokenCounter:
        """``count_tokens`` as a value that can be sent to another process."""


def adapted(encoder: Encoder, indexed_with: str | None) -> Encoder:
    """The encoder that a job on a collection takes: it goes on in the way the collection was indexed in.

    indexed_with: the fingerprint that the collection was indexed with; None for a new one. Where that is none of the
    encoder's ways, it is the first of them; an encoder that has no ways is taken as it is.
    """
    if not isinstance(encoder, AdaptableEncoder):
        return encoder
    way = indexed_with if indexed_with in encoder.ways else encoder.ways[0]
    return encoder if way == encoder.fingerprint else AdaptedEncoder(encoder, way)


class AdaptedEncoder:
    """The Encoder that an adaptable one is in one of its ways. Models are that one's, and so are errors raised."""

    def __init__(self, encoder: AdaptableEncoder, way: str) -> None:
        """way: one of ``encoder.ways``."""
        self._encoder = encoder
        self._way = way

    @property
    def fingerprint(self) -> str:
        """The way's."""
        return self._way

    @property
    def serves(self) -> frozenset[str]:
        """Fingerprints of the encoders whose passages its queries go with."""
        return self._encoder.serves

    @property
    def dimension(self) -> int:
        """E, the length of a vector."""
        return self._encoder.dimension

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text are read."""
        return self._encoder.max_tokens

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, E) vectors of length 1."""
        return self._encoder.encode_passages_as(texts, self._way)

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, E) vectors of length 1; the same in all ways."""
        return self._encoder.encode_queries(texts)

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Tokens of each text, without special tokens and without truncation."""
        return self._encoder.count_tokens(texts)

    def portable_counter(self) -> TokenCounter:
        """``count_tokens`` as a value that can be sent to another process."""
        return self._encoder.portable_counter()

    def rest(self) -> None:
        """As the other one rests, if it does."""
        if isinstance(self._encoder, ReleasableEncoder):
            self._encoder.rest()
