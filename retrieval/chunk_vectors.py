"""A vector for every chunk: from the store where one is known, else from the encoder, committed as it goes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.store import Store
from retrieval.document_versions import batches
from retrieval.encoder import Encoder
from retrieval.vector_cache import read_vectors, write_vectors

# Texts looked at together before they are sorted by length: a few calls' worth, so that a call holds alike lengths.
_CALLS_A_WINDOW = 8


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """vectors: (N, E) float32. embedded: distinct texts put through the encoder. reused: chunks found in the store."""

    vectors: NDArray[np.float32]
    embedded: int
    reused: int


def text_hash(text: str) -> str:
    """SHA-256 (hex) of the text that is embedded."""
    return hashlib.sha256(text.encode()).hexdigest()


def chunk_vectors(
    store: Store,
    encoder: Encoder,
    hashes: Sequence[str],
    texts: Callable[[Sequence[int]], Iterator[str]],
    texts_per_call: int,
    progress: Callable[[int, int], None],
) -> ChunkVectors:
    """The vectors of N chunks, in order.

    hashes: of the chunks' texts. texts: gives the texts at some positions, which are in ascending order. Every call of
    the encoder is followed by a commit and by ``progress(done, total)`` in texts. Raises RetrievalError if the encoder
    gives no usable vector; what was committed stays.
    """
    matrix = np.zeros((len(hashes), encoder.dimension), dtype=np.float32)
    missing: dict[str, list[int]] = {}
    reused = 0
    for positions in batches(range(len(hashes)), 5000):
        known = read_vectors(store, encoder.fingerprint, sorted({hashes[i] for i in positions}), encoder.dimension)
        for i in positions:
            vector = known.get(hashes[i])
            if vector is None:
                missing.setdefault(hashes[i], []).append(i)
            else:
                matrix[i] = vector
                reused += 1
    done = 0
    progress(done, len(missing))
    for window in batches(tuple(missing), texts_per_call * _CALLS_A_WINDOW):
        by_length = sorted(
            zip(texts([missing[key][0] for key in window]), window, strict=True),
            key=lambda item: (len(item[0]), item[1]),
        )
        for call in batches(by_length, texts_per_call):
            vectors = encoder.encode_passages([text for text, _ in call])
            fresh = {key: vectors[i] for i, (_, key) in enumerate(call)}
            write_vectors(store, encoder.fingerprint, fresh)
            for key, vector in fresh.items():
                matrix[missing[key]] = vector
            done += len(call)
            progress(done, len(missing))
    return ChunkVectors(matrix, done, reused)
