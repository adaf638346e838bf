"""Find or compute a vector for every chunk. Texts without a vector are sorted by length across documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from data.refused import Refused
from data.store import Store
from retrieval.encoding.encoder import Encoder, encode_calls
from retrieval.errors import RetrievalError
from retrieval.generations.document_versions import batches, read_documents
from retrieval.indexing.background import BackgroundWorker
from retrieval.indexing.chunking_stage import ChunkedBatch, ChunkedDocument, searchable_texts
from retrieval.indexing.vector_cache import read_vectors, write_vectors


@dataclass(frozen=True, slots=True)
class EmbeddingResult:
    """The chunked documents of a job, with their vectors in the database.

    embedded: number of texts that were encoded. reused: number of chunks that needed no encoding.
    """

    collection_id: int
    documents: tuple[ChunkedDocument, ...]
    refused: tuple[Refused, ...]
    embedded: int
    reused: int


class MissingVector(NamedTuple):
    """A chunk without a stored vector.

    document_index: index of the document. chunk: index of the chunk in the document. text_sha256: SHA-256 (hex) of its
    text.
    """

    document_index: int
    chunk: int
    text_sha256: str


class Embedder:
    """An embedder that groups texts of similar lengths into calls, and stores each call's vectors during the next.

    Use it as a context manager. All vectors are stored when it ends.
    """

    def __init__(
        self, store: Store, encoder: Encoder, collection_id: int, texts_per_call: int, progress: Callable[[int], None]
    ) -> None:
        """texts_per_call: number of texts in a call of the encoder.

        progress: called in the caller's thread after each call, with the number of its texts.
        """
        self._store = store
        self._encoder = encoder
        self._collection_id = collection_id
        self._texts_per_call = texts_per_call
        self._progress = progress
        self._writing: BackgroundWorker[dict[str, NDArray[np.float32]]] = BackgroundWorker(self._write, limit=4)

    def __enter__(self) -> Embedder:
        self._writing.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._writing.__exit__(*error)  # type: ignore[arg-type]

    def known(self, hashes: Sequence[str]) -> set[str]:
        """Return the hashes of the texts that have an intact stored vector, including those of all calls so far."""
        self._writing.drain()
        found = read_vectors(self._store, self._encoder.fingerprint, sorted(set(hashes)), self._encoder.dimension)
        return set(found)

    def embed(self, documents: Sequence[ChunkedDocument], missing: Sequence[MissingVector]) -> None:
        """Embed the texts of these chunks. Raises RetrievalError for invalid vectors.

        missing: chunks of ``documents``, sorted by document.
        """
        by_length = sorted(self._texts(documents, missing), key=lambda item: (len(item[0]), item[1]))
        calls = [[text for text, _ in call] for call in batches(by_length, self._texts_per_call)]
        encoded = encode_calls(self._encoder, calls)
        for call, texts, found in zip(batches(by_length, self._texts_per_call), calls, encoded, strict=True):
            vectors = check_vectors(found, texts, self._encoder.dimension)
            self._writing.put({key: vectors[i] for i, (_, key) in enumerate(call)})
            self._progress(len(call))

    def _texts(
        self, documents: Sequence[ChunkedDocument], missing: Sequence[MissingVector]
    ) -> Iterator[tuple[str, str]]:
        chunks: dict[int, list[MissingVector]] = {}
        for item in missing:
            chunks.setdefault(item.document_index, []).append(item)
        stored = read_documents(self._store, [documents[document_index].version for document_index in chunks])
        for read, (document_index, items) in zip(stored, chunks.items(), strict=True):
            spans = documents[document_index].spans[[item.chunk for item in items]]
            yield from zip(searchable_texts(read.document, spans), (item.text_sha256 for item in items), strict=True)

    def _write(self, by_hash: dict[str, NDArray[np.float32]]) -> None:
        write_vectors(self._store, self._encoder.fingerprint, by_hash, self._collection_id)


def check_vectors(vectors: NDArray[np.float32], texts: Sequence[str], dimension: int) -> NDArray[np.float32]:
    """Return the vectors if they meet the Encoder contract: shape (N, E), finite and of length 1.

    Otherwise raises RetrievalError, naming the text. An invalid vector would match nothing or everything, and no search
    would report the error.
    """
    if vectors.shape != (len(texts), dimension):
        raise RetrievalError(
            f"the encoder returned vectors of the shape {vectors.shape} for {len(texts)} texts, but declares "
            f"{dimension} dimensions; these vectors were not stored. Check the encoder"
        )
    norms = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1))
    bad = np.flatnonzero(~(np.abs(norms - 1.0) < 1e-3))
    if bad.size:
        raise RetrievalError(
            f"the encoder returned no usable vector for {bad.size} of {len(texts)} texts (length {norms[bad[0]]:g}, "
            f"not 1), the first of them {texts[int(bad[0])][:80]!r}; check its weights and its precision on this device"
        )
    return np.asarray(vectors, dtype=np.float32)


def embed_stream(
    cut: Iterable[ChunkedBatch],
    make_embedder: Callable[[int], Embedder],
    texts_per_window: int,
    progress: Callable[[int], None],
) -> EmbeddingResult:
    """Embed the chunks of all batches, and return the result after the last batch.

    cut: chunked batches. make_embedder: creates an embedder for a collection's key. texts_per_window: number of texts
    that are collected before they are sorted by length and embedded; larger windows need less padding. progress: called
    after each batch with the number of texts to embed so far.
    """
    batches_cut = iter(cut)
    first = next(batches_cut, None)
    if first is None:
        raise RetrievalError("there are no chunks to embed")
    documents: list[ChunkedDocument] = []
    refused: list[Refused] = []
    window: dict[str, MissingVector] = {}
    missing_count = chunks = 0
    with make_embedder(first.collection_id) as embedder:
        for batch in chain((first,), batches_cut):
            hashes = [[row.tobytes().hex() for row in item.hashes] for item in batch.documents]
            known = embedder.known([key for keys in hashes for key in keys if key not in window])
            for document_index, keys in enumerate(hashes, start=len(documents)):
                for chunk, key in enumerate(keys):
                    if key not in known and key not in window:
                        window[key] = MissingVector(document_index, chunk, key)
                        missing_count += 1
                chunks += len(keys)
            documents.extend(batch.documents)
            refused.extend(batch.refused)
            progress(missing_count)
            while len(window) >= texts_per_window:
                window_items = list(window.values())[:texts_per_window]
                embedder.embed(documents, window_items)
                for item in window_items:
                    del window[item.text_sha256]
        embedder.embed(documents, list(window.values()))
    return EmbeddingResult(first.collection_id, tuple(documents), tuple(refused), missing_count, chunks - missing_count)
