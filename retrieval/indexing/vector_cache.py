"""A content-addressed cache of vectors in the database, so that a text is embedded only once, even if a job is killed.

A row contains a checksum of encoder, text and vector, so that a damaged or swapped row counts as missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, delete, insert, or_, select
from sqlalchemy.dialects import postgresql

from data.schema import vectors
from data.store import Store
from retrieval.generations.document_versions import batches, readable_rows

TextHashes = NDArray[np.uint8]
"""(N, 32) SHA-256 of each embedded text."""

_CHECKSUM_BYTES = 16  # bytes of checksum before the vector


def read_vectors(store: Store, encoder: str, hashes: Sequence[str], dimension: int) -> dict[str, NDArray[np.float32]]:
    """Return the stored vectors, each (E,), by the SHA-256 (hex) of the text. Damaged rows count as missing.

    encoder: fingerprint of the encoder. dimension: E, the length of a vector.
    """
    found: dict[str, NDArray[np.float32]] = {}
    for part in batches(hashes, 500):
        query = select(vectors.c.text_sha256, vectors.c.vector).where(
            vectors.c.encoder == encoder, vectors.c.text_sha256.in_(part)
        )
        with store.read() as connection:
            for text_sha256, packed in connection.execute(query):
                vector = _unpack(packed, encoder, text_sha256, dimension)
                if vector is not None:
                    found[text_sha256] = vector
    return found


def write_vectors(
    store: Store, encoder: str, by_hash: Mapping[str, NDArray[np.float32]], collection_id: int | None
) -> None:
    """Store vectors in one transaction, replacing existing rows.

    by_hash: vectors by the SHA-256 (hex) of their texts. collection_id: key of the collection that needs them.
    """
    if not by_hash:
        return
    rows = [
        {
            "encoder": encoder,
            "text_sha256": key,
            "vector": _pack(encoder, key, vector),
            "collection_id": collection_id,
        }
        for key, vector in sorted(by_hash.items())  # sorted, so that all writers lock rows in the same order
    ]
    with readable_rows("vectors"), store.write(exclusive=False) as connection:
        if store.shared:  # two jobs may write the vector of the same text at the same time
            upsert = postgresql.insert(vectors)
            new = {name: upsert.excluded[name] for name in ("vector", "collection_id")}
            connection.execute(
                upsert.on_conflict_do_update(index_elements=[vectors.c.encoder, vectors.c.text_sha256], set_=new), rows
            )
            return
        for part in batches(tuple(by_hash), 500):
            connection.execute(delete(vectors).where(vectors.c.encoder == encoder, vectors.c.text_sha256.in_(part)))
        connection.execute(insert(vectors), rows)


def prune_vectors(store: Store, collection_id: int | None, keep: Mapping[str, Sequence[TextHashes]]) -> int:
    """Remove the vectors of this collection and of deleted ones that are not in ``keep``, and return their number.

    keep: text hashes that a generation still needs, by encoder. Vectors of other collections are kept, because a job
    may be about to use them.
    """
    kept = {encoder: np.sort(_as_bytes(np.concatenate(list(parts)))) for encoder, parts in keep.items() if parts}
    in_collection: ColumnElement[bool] = vectors.c.collection_id.is_(None)
    if collection_id is not None:
        in_collection = or_(in_collection, vectors.c.collection_id == collection_id)
    removed = 0
    with store.read() as connection:
        encoders = connection.execute(select(vectors.c.encoder).where(in_collection).distinct()).scalars().all()
    for encoder in encoders:
        of_encoder = in_collection & (vectors.c.encoder == encoder)
        with store.read() as connection:
            found = bytearray()
            for (text_sha256,) in connection.execution_options(yield_per=5000).execute(
                select(vectors.c.text_sha256).where(of_encoder)
            ):
                found += bytes.fromhex(text_sha256)
        hashes = np.frombuffer(bytes(found), dtype=np.uint8).reshape(-1, 32)
        unused = hashes[~np.isin(_as_bytes(hashes), kept[encoder])] if encoder in kept else hashes
        for part in batches([row.tobytes().hex() for row in unused], 5000):
            with store.write(exclusive=False) as connection:
                for block in batches(part, 500):
                    connection.execute(delete(vectors).where(of_encoder, vectors.c.text_sha256.in_(block)))
        removed += len(unused)
    return removed


def _as_bytes(hashes: TextHashes) -> NDArray[np.bytes_]:
    """Return (N,) byte strings that compare as the hashes do. numpy ignores trailing zeros on both sides."""
    return np.ascontiguousarray(hashes).view("S32").reshape(-1)


def _pack(encoder: str, text_sha256: str, vector: NDArray[np.float32]) -> bytes:
    """Return the checksum followed by the vector as little-endian float32."""
    values = vector.astype("<f4").tobytes()
    return _checksum(encoder, text_sha256, values) + values


def _unpack(packed: bytes, encoder: str, text_sha256: str, dimension: int) -> NDArray[np.float32] | None:
    """Decode the output of ``_pack``. Returns None if it is damaged or not a unit vector."""
    if len(packed) != _CHECKSUM_BYTES + 4 * dimension:
        return None
    if _checksum(encoder, text_sha256, packed[_CHECKSUM_BYTES:]) != packed[:_CHECKSUM_BYTES]:
        return None
    vector = np.frombuffer(packed, dtype="<f4", offset=_CHECKSUM_BYTES).astype(np.float32)
    norm = float(np.square(vector, dtype=np.float64).sum())
    return vector if abs(norm - 1.0) < 1e-3 else None


def _checksum(encoder: str, text_sha256: str, values: bytes) -> bytes:
    return hashlib.sha256(f"{encoder}\0{text_sha256}\0".encode() + values).digest()[:_CHECKSUM_BYTES]
