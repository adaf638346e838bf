"""Define the interface of an engine, which writes, opens and drops the two indexes of a generation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from retrieval.sparse.lexical import LexicalIndex
from retrieval.sparse.params import Bm25Params
from retrieval.vectors.faiss_index import VectorIndex, Vectors
from retrieval.vectors.params import BuiltKind, DenseParams
from retrieval.vectors.recall import DenseRecall

VectorProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """Description of a generation's indexes, from its manifest.

    hash: hash of the generation. chunks: N, the number of chunks. dimension: E, the length of a vector. kind: kind of
    the vector index. search_depth: search depth of an approximate index, None for an exact one. bm25: parameters of the
    word index.
    """

    hash: str
    chunks: int
    dimension: int
    kind: str
    search_depth: int | None
    bm25: Bm25Params


@dataclass(frozen=True, slots=True)
class BuiltVectors:
    """Result of building a vector index. kind: kind of the index. recall: measured recall, None if it is exact."""

    kind: BuiltKind
    recall: DenseRecall | None


@dataclass(frozen=True, slots=True)
class OpenIndexes:
    """Both indexes of a generation; position p of each is row p of its chunk table."""

    dense: VectorIndex
    lexical: LexicalIndex


class IndexWriter(Protocol):
    """A writer of the indexes of one generation. The word index is written first."""

    def write_words(self, lexical: LexicalIndex) -> None:
        """Store the word index."""

    def write_vectors(self, vectors: Vectors, params: DenseParams, progress: VectorProgress) -> BuiltVectors:
        """Store (N, E) vectors and build their index. progress: called with (number of vectors stored, N)."""


class IndexEngine(Protocol):
    """An engine at an address. Thread-safe.

    address: the address as shown in messages. recorded: the address as stored with a generation, without a password.
    """

    address: str
    recorded: str

    def check(self, params: DenseParams, bm25: Bm25Params, dimension: int) -> None:
        """Raise EngineError if the engine does not answer or does not support these indexes.

        Called before an indexing job starts. dimension: length of the vectors.
        """

    def writer(
        self, build_id: str, folder: Path, generation: str, collection: str
    ) -> AbstractContextManager[IndexWriter]:
        """Return a context manager that writes a generation. If an exception leaves the block, nothing is kept.

        build_id: a new ID that names the generation's tables. folder: the generation's folder, which receives small
        files that queries need. generation: hash of the generation. collection: name of the collection.
        """

    def open(self, build_id: str, folder: Path, facts: IndexFacts) -> OpenIndexes:
        """Open the indexes of a build. Raises GenerationGoneError if they are missing or of another generation."""

    def drop(self, build_id: str) -> None:
        """Remove the indexes of a build, if there are any. Raises EngineError if the engine does not answer."""

    def close(self) -> None:
        """Close all connections."""
