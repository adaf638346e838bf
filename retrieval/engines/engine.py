"""The interface of an engine: it writes, opens and drops the two indexes of a generation."""

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
    """What a generation's manifest says of its indexes.

    hash: of the generation. chunks: N. dimension: E. kind: of the vector index. search_depth: of an approximate index.
    """

    hash: str
    chunks: int
    dimension: int
    kind: str
    search_depth: int | None
    bm25: Bm25Params


@dataclass(frozen=True, slots=True)
class BuiltVectors:
    """kind: of the vector index. recall: None if it is exact."""

    kind: BuiltKind
    recall: DenseRecall | None


@dataclass(frozen=True, slots=True)
class OpenIndexes:
    """Both indexes of a generation; position p of each is row p of its chunk table."""

    dense: VectorIndex
    lexical: LexicalIndex


class IndexWriter(Protocol):
    """Writes the indexes of one generation, words first."""

    def write_words(self, lexical: LexicalIndex) -> None:
        """Store the word index."""

    def write_vectors(self, vectors: Vectors, params: DenseParams, progress: VectorProgress) -> BuiltVectors:
        """Store (N, E) vectors and build their index. progress: called with (done, N)."""


class IndexEngine(Protocol):
    """An engine at an address. Thread-safe.

    address: for messages. recorded: for the record of a generation, without a password.
    """

    address: str
    recorded: str

    def check(self, params: DenseParams, bm25: Bm25Params, dimension: int) -> None:
        """Raise EngineError if the engine does not answer or cannot hold such indexes. Called before a job starts."""

    def writer(
        self, build_id: str, folder: Path, generation: str, collection: str
    ) -> AbstractContextManager[IndexWriter]:
        """Write the generation of this hash under a new build id. If an exception leaves the block, nothing is kept.

        folder: of the generation; small files that queries need are written there.
        """

    def open(self, build_id: str, folder: Path, facts: IndexFacts) -> OpenIndexes:
        """Open the indexes. Raises GenerationGoneError if nothing or another generation is there."""

    def drop(self, build_id: str) -> None:
        """Remove whatever is there; nothing is fine. Raises EngineError if the engine does not answer."""

    def close(self) -> None:
        """Close all connections."""
