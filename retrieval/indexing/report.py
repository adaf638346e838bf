"""Progress and report of the indexing job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from data.html_table import html_table
from data.refused import Refused
from retrieval.engines.record import EngineName
from retrieval.vectors.params import BuiltKind

IndexPhase = Literal["documents", "chunks", "vectors", "words", "index", "publishing"]


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """Progress of a phase.

    done, total: counts in the phase's own unit; total is None while it is unknown. Three phases run concurrently:
    "documents" counts documents read and stored, "chunks" documents chunked, "vectors" embedded texts of those without
    a stored vector. Then "words" counts documents added to BM25, "index" counts vectors added to their index, and
    "publishing" is 0 of 1, then 1 of 1. kind: kind of the vector index in the phase "index", otherwise None.
    """

    phase: IndexPhase
    done: int
    total: int | None
    kind: BuiltKind | None = None


@dataclass(frozen=True, slots=True, repr=False)
class IndexReport:
    """Result of an indexing run.

    added, changed, unchanged, removed: numbers of documents relative to the previous generation. refused: documents
    that were not read. notes: documents that need attention. Both list the first documents for each reason, then the
    number of the others. documents, chunks: numbers in the new generation. embedded: number of texts encoded in this
    run. reused: number of chunks that needed no encoding. rebuilt: False if nothing had changed and the generation was
    kept. seconds: wall-clock time. index: kind of the vector index. recall: recall of an approximate index against
    exact search, measured at build time. vectors: engine that holds the indexes. removed_ids: sorted IDs of the removed
    documents.
    """

    collection: str
    generation_hash: str
    added: int
    changed: int
    unchanged: int
    removed: int
    refused: tuple[Refused, ...]
    documents: int
    chunks: int
    embedded: int
    reused: int
    rebuilt: bool
    seconds: float
    index: str = "flat"
    recall: float | None = None
    vectors: EngineName = "local"
    removed_ids: tuple[str, ...] = ()
    notes: tuple[Refused, ...] = ()

    def __repr__(self) -> str:
        return (
            f"IndexReport({self.collection!r}: {self.documents} documents, {self.chunks} chunks, added {self.added}, "
            f"changed {self.changed}, removed {self.removed}, refused {self.refused_count}, {self.seconds:.1f} s)"
        )

    def _repr_html_(self) -> str:
        """Render the counts as HTML for notebooks."""
        header = ("documents", "chunks", "added", "changed", "unchanged", "removed", "refused")
        counts = (
            self.documents,
            self.chunks,
            self.added,
            self.changed,
            self.unchanged,
            self.removed,
            self.refused_count,
        )
        return html_table(f"collection {self.collection}", header, [[str(count) for count in counts]])

    @property
    def refused_count(self) -> int:
        """Number of files and parts of files that were refused."""
        return sum(one.count for one in self.refused)
