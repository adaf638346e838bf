"""What the indexing job says while it works and when it is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from data.html_table import html_table
from data.refused import Refused
from retrieval.vectors.params import BuiltKind

IndexPhase = Literal["documents", "chunks", "vectors", "words", "index", "publishing"]


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """phase: what is being worked on. done, total: in the phase's own unit; total None while unknown.

    "documents": documents read and stored. "chunks": documents cut into chunks. "vectors": chunk texts embedded, of
    those that no earlier run has. These three go on at the same time. Then "words": documents counted for BM25,
    "index": vectors put into their index, "publishing": 0 of 1, then 1 of 1. kind: of the index, in that phase.
    """

    phase: IndexPhase
    done: int
    total: int | None
    kind: BuiltKind | None = None


@dataclass(frozen=True, slots=True, repr=False)
class IndexReport:
    """What a run did. The first four count documents against the generation before; refused lists what was not read,
    notes what was read in a way that a person should know of; of each reason the first and the number of the others.

    rebuilt: False when nothing had changed and the generation stayed. embedded: texts put through the encoder now;
    reused: chunks that needed none. seconds: wall-clock time. index: the kind of vector index; recall: of an
    approximate one against exact search, measured when it was built. removed_ids: of the documents that no longer
    answer, sorted.
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
    removed_ids: tuple[str, ...] = ()
    notes: tuple[Refused, ...] = ()

    def __repr__(self) -> str:
        return (
            f"IndexReport({self.collection!r}: {self.documents} documents, {self.chunks} chunks, added {self.added}, "
            f"changed {self.changed}, removed {self.removed}, refused {self.refused_count}, {self.seconds:.1f} s)"
        )

    def _repr_html_(self) -> str:
        """The counts, for a notebook."""
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
        """How many files and parts of files were refused."""
        return sum(one.count for one in self.refused)
