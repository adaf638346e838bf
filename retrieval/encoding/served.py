"""Base class of encoders that run in other processes, with their properties and the calls that are sent to them."""

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
    """Properties of an encoder that runs in another process. Picklable.

    serves, passage_modes: see ``AdaptableEncoder``. counter: its token counter, which runs in this process.
    """

    fingerprint: str
    dimension: int
    max_tokens: int
    serves: frozenset[str]
    passage_modes: tuple[str, ...]
    counter: TokenCounter


class EncoderCall(NamedTuple):
    """Texts to encode. mode: fingerprint of the passage mode; None for queries."""

    texts: list[str]
    mode: str | None


def encoder_properties(encoder: Encoder) -> EncoderProperties:
    """Return the properties of an encoder. Raises RetrievalError if its token counter cannot be pickled."""
    if not isinstance(encoder, PicklableCounting):
        raise RetrievalError(
            "this encoder's token counter cannot be sent to another process, so the encoder cannot run in one"
        )
    serves = encoder.serves if isinstance(encoder, CompatibleQueries) else frozenset((encoder.fingerprint,))
    return EncoderProperties(
        encoder.fingerprint,
        encoder.dimension,
        encoder.max_tokens,
        serves,
        _passage_modes(encoder),
        encoder.portable_counter(),
    )


def _passage_modes(encoder: Encoder) -> tuple[str, ...]:
    return encoder.passage_modes if isinstance(encoder, AdaptableEncoder) else (encoder.fingerprint,)


def answer_call(encoder: Encoder, call: EncoderCall) -> NDArray[np.float32]:
    """Return the (N, E) vectors of the call's texts. Raises what the encoder raises."""
    if call.mode is None:
        return encoder.encode_queries(call.texts)
    if isinstance(encoder, AdaptableEncoder):
        return encoder.encode_passages_as(call.texts, call.mode)
    return encoder.encode_passages(call.texts)


class ServedEncoder(ABC):
    """Base class of AdaptableEncoders that run in other processes. Tokens are counted in this process."""

    @abstractmethod
    def properties(self) -> EncoderProperties:
        """Return the encoder's properties. The first call opens the encoder and raises its errors."""

    @abstractmethod
    def call(self, call: EncoderCall) -> NDArray[np.float32]:
        """Return the (N, E) unit vectors of the call's texts.

        Raises what the encoder raises, and RetrievalError if its process was lost.
        """

    @property
    def fingerprint(self) -> str:
        """See ``Encoder.fingerprint``. Raises what ``properties`` raises."""
        return self.properties().fingerprint

    @property
    def dimension(self) -> int:
        """E, the length of a vector. Raises what ``properties`` raises."""
        return self.properties().dimension

    @property
    def max_tokens(self) -> int:
        """Largest number of tokens read from a text. Raises what ``properties`` raises."""
        return self.properties().max_tokens

    @property
    def serves(self) -> frozenset[str]:
        """See ``AdaptableEncoder.serves``. Raises what ``properties`` raises."""
        return self.properties().serves

    @property
    def passage_modes(self) -> tuple[str, ...]:
        """Fingerprints of the supported passage modes, the preferred one first. Raises what ``properties`` raises."""
        return self.properties().passage_modes

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the (N, E) unit vectors of passages. Raises what ``call`` raises."""
        return self.encode_passages_as(texts, self.fingerprint)

    def encode_passages_as(self, texts: Sequence[str], mode: str) -> NDArray[np.float32]:
        """Return the (N, E) unit vectors of passages. mode: fingerprint of the mode. Raises what ``call`` raises."""
        return self.call(EncoderCall(list(texts), mode))

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the (N, E) unit vectors of queries. Raises what ``call`` raises."""
        return self.call(EncoderCall(list(texts), None))

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the number of tokens of each text, counted in this process."""
        return tuple(self.properties().counter(texts))

    def portable_counter(self) -> TokenCounter:
        """Return a picklable version of ``count_tokens``."""
        return self.properties().counter
