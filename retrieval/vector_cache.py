"""Vectors by content, in SQL: text that was embedded once is never embedded again, not after a kill either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, insert, select

from data.schema import vectors
from data.store import Store
from retrieval.document_versions import batches


def read_vectors(store: Store, encoder: str, hashes: Sequence[str], dimension: int) -> dict[str, NDArray[np.float32]]:
    """The stored vectors, each (E,), by SHA-256 of the text. One that is damaged counts as not stored.

    encoder: fingerprint. dimension: E.
    """
    found: dict[str, NDArray[np.float32]] = {}
    for part in batches(hashes, 500):
        wanted = select(vectors.c.text_sha256, vectors.c.vector).where(
            vectors.c.encoder == encoder, vectors.c.text_sha256.in_(part)
        )
        with store.read() as connection:
            for text_sha256, packed in connection.execute(wanted):
                vector = _unpacked(packed, dimension)
                if vector is not None:
                    found[text_sha256] = vector
    return found


def write_vectors(store: Store, encoder: str, by_hash: Mapping[str, NDArray[np.float32]]) -> None:
    """Store vectors in one transaction, over whatever was stored for these texts."""
    if not by_hash:
        return
    rows = [
        {"encoder": encoder, "text_sha256": key, "vector": vector.astype("<f4").tobytes()}
        for key, vector in by_hash.items()
    ]
    with store.write() as connection:
        for part in batches(tuple(by_hash), 500):
            connection.execute(delete(vectors).where(vectors.c.encoder == encoder, vectors.c.text_sha256.in_(part)))
        connection.execute(insert(vectors), rows)


def _unpacked(packed: bytes, dimension: int) -> NDArray[np.float32] | None:
    """Little-endian float32; None unless it is a vector of length 1."""
    if len(packed) != 4 * dimension:
        return None
    vector = np.frombuffer(packed, dtype="<f4").astype(np.float32)
    norm = float(np.square(vector, dtype=np.float64).sum())
    return vector if abs(norm - 1.0) < 1e-3 else None
