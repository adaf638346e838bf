"""Properties of an encoder model that has been loaded."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.chunking.token_counting import TokenizerCounter
from retrieval.encoding.text_kinds import EncodingPass


@dataclass(frozen=True, slots=True)
class OpenedEncoder:
    """A loaded encoder.

    counter: counts the tokens of texts. dimension: length of a vector. max_tokens: largest number of tokens read from a
    text, including special tokens. fingerprint: SHA-256 (hex) of everything that determines vectors in fp32. embed:
    maps texts to vectors.
    """

    counter: TokenizerCounter
    dimension: int
    max_tokens: int
    fingerprint: str
    embed: EncodingPass
