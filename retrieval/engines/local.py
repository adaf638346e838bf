"""Store the indexes of a generation (FAISS and BM25) as files in its folder. This is the default engine."""

from __future__ import annotations

from pathlib import Path

from retrieval.engines.engine import BuiltVectors, OpenIndexes, VectorProgress
from retrieval.sparse.bm25 import load_bm25
from retrieval.sparse.lexical import LexicalIndex
from retrieval.sparse.params import Bm25Params
from retrieval.vectors.building import build_dense, load_dense
from retrieval.vectors.faiss_index import Vectors
from retrieval.vectors.params import DenseParams

VECTORS = "vectors.faiss"


class LocalWriter:
    """An IndexWriter that writes files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write_words(self, lexical: LexicalIndex) -> None:
        """Write the word index to the files bm25_*."""
        lexical.save(self._folder)

    def write_vectors(self, vectors: Vectors, params: DenseParams, progress: VectorProgress) -> BuiltVectors:
        """Build the vector index and write it to vectors.faiss."""
        built = build_dense(vectors, params, progress)
        built.index.save(self._folder / VECTORS)
        return BuiltVectors(built.kind, built.recall)


def open_local(folder: Path, vector_bytes: int, bm25: Bm25Params) -> OpenIndexes:
    """Open the indexes from files whose hashes were checked. Raises RetrievalError if a file is unreadable.

    vector_bytes: size of vectors.faiss.
    """
    return OpenIndexes(load_dense(folder / VECTORS, vector_bytes), load_bm25(folder, bm25))
