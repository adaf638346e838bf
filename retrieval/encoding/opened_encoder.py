"""What is known of an encoder's model once it has been read, whoever read it."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.chunking.token_counting import TokenizerCounter
from retrieval.encoding.text_kinds import EncodingPass


@dataclass(frozen=True, slots=True)
class OpenedEncoder:
    """counter: tokens of texts. dimension: E of a vector. max_tokens: read of a text, special tokens included.

    fingerprint: SHA-256 (hex) of all that decides vectors in fp32. embed: texts to vectors.
    """

    counter: TokenizerCounter
    dimension: int
    max_tokens: int
    fingerprint: str
    embed: EncodingPass
