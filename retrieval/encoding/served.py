"""An encoder that works elsewhere: what is known of it here, and the calls that are sent to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval.chunking.chunker import TokenCounter
from retrieval.encoding.adapted import AdaptableEncoder
from retrieval.encoding.encoder import CompatibleQueries, Encoder, PicklableCounting
from retrieval.errors import RetrievalError


@dataclass(frozen=True, slots=True)
class EncoderProperties:
    """Properties of an encoder, known without it. Picklable."""

    fingerprint: str
    dimension: int
    max_tokens: int
    serves: frozenset[str]
    ways: tuple[str, ...]
    counter: TokenCounter


class EncoderCall(NamedTuple):
    """Texts to encode. way: fingerprint of the passage mode; None for queries."""

    texts: list[str]
    way: str | None


def encoder_properties(encoder: Encoder) -> EncoderProperties:
    """The properties of an encoder. Raises RetrievalError if its token counter cannot be pickled."""
    if not isinstance(encoder, PicklableCounting):
        raise RetrievalError("this encoder's counting cannot be sent to another process, so it cannot work in one")
    serves = encoder.serves if isinstance(encoder, CompatibleQueries) else frozenset((encoder.fingerprint,))
    return EncoderProperties(
        encoder.fingerprint,
        encoder.dimension,
        encoder.max_tokens,
        serves,
        _ways(encoder),
        encoder.portable_counter(),
    )


def _ways(encoder: Encoder) -> tuple[str, ...]:
    return encoder.ways if isinstance(encoder, AdaptableEncoder) else (encoder.fingerprint,)


def answer_call(encoder: Encoder, call: EncoderCall) -> NDArray[np.float32]:
    """(N, E) vectors of the call's texts. Raises what the encoder raises."""
    if call.way is None:
        return encoder.encode_queries(call.texts)
    if isinstance(encoder, AdaptableEncoder):
        return encoder.encode_passages_as(call.texts, call.way)
    return encoder.encode_passages(call.texts)


class ServedEncoder(ABC):
    """Base of AdaptableEncoders whose vectors are computed elsewhere. Tokens are counted in this process."""

    @abstractmethod
    def properties(self) -> EncoderProperties:
        """What is known of the encoder; the first call opens it. Raises the errors of opening it."""

    @abstractmethod
    def call(self, call: EncoderCall) -> NDArray[np.float32]:
        """(N, E) vectors of length 1. Raises what the encoder raises, and RetrievalError if it was lost."""

    @property
    def fingerprint(self) -> str:
        """See Encoder. Raises as ``properties`` does."""
        return self.properties().fingerprint

    @property
    def dimension(self) -> int:
        """E, the length of a vector; raises as ``properties`` does."""
        return self.properties().dimension

    @property
    def max_tokens(self) -> int:
        """Maximum number of tokens read from a text; raises as ``properties`` does."""
        return self.properties().max_tokens

    @property
    def serves(self) -> frozenset[str]:
        """Fingerprints of compatible passage encoders; raises as ``properties`` does."""
        return self.properties().serves

    @property
    def ways(self) -> tuple[str, ...]:
        """Fingerprints of the supported passage modes, preferred one first; raises as ``properties`` does."""
        return self.properties().ways

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, E) vectors of length 1. Raises as ``call`` does."""
        return self.encode_passages_as(texts, self.fingerprint)

    def encode_passages_as(self, texts: Sequence[str], way: str) -> NDArray[np.float32]:
        """Encode passages in the mode ``way``, a fingerprint of ``ways``. Raises as ``call`` does."""
        return self.call(EncoderCall(list(texts), way))

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, E) vectors of length 1. Raises as ``call`` does."""
        return self.call(EncoderCall(list(texts), None))

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the number of tokens of each text, counted in this process."""
        return tuple(self.properties().counter(texts))

    def portable_counter(self) -> TokenCounter:
        """A picklable version of ``count_tokens``."""
        return self.properties().counter
