"""A fake encoder, for index jobs of sizes that take hours with a real one on two cores.

It counts tokens with MiniLM's tokenizer, so that chunks are the same as with MiniLM. It maps each text to the sum of
the signed hashes of its words: 384 dimensions, deterministic and cheap. Its figures do not apply to embedding.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from retrieval.chunking.chunker import TokenCounter
from retrieval.chunking.token_counting import TokenizerCounter
from retrieval.encoding.encoder import unit_vectors
from retrieval.encoding.sentence_transformer import default_encoder_folder

_WORD = re.compile(r"\w+")


class HashingEncoder:
    """An Encoder that hashes words."""

    def __init__(self, dimension: int = 384) -> None:
        self._dimension = dimension
        definition = (default_encoder_folder() / "tokenizer.json").read_text(encoding="utf-8")
        self._counter = TokenizerCounter(definition)

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(f"hashing:{self._dimension}".encode()).hexdigest()

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def max_tokens(self) -> int:
        return 256

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            codes = np.fromiter((crc32(word.encode()) for word in _WORD.findall(text.lower())), dtype=np.int64)
            signs = np.where(codes & (1 << 31), -1.0, 1.0)
            vectors[row] = np.bincount(codes % self._dimension, weights=signs, minlength=self._dimension)
        vectors[:, 0] += 1e-3  # a text whose words cancel out still needs a direction
        return unit_vectors(vectors, texts, self._dimension)

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.encode_passages(texts)

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        return tuple(self._counter(texts))

    def portable_counter(self) -> TokenCounter:
        return self._counter
