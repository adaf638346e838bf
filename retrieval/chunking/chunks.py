"""The Chunk, and the Chunk as it was retrieved for one query."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a document: ``document.text[start:end] == text``, always. Offsets in characters.

    title: the document's, carried along so that a prompt or a page can show it.
    """

    document_id: str
    start: int
    end: int
    text: str
    title: str = ""

    def __post_init__(self) -> None:
        if self.end - self.start != len(self.text) or self.start < 0 or not self.text:
            raise ValueError(f"chunk [{self.start}, {self.end}) of {self.document_id!r} does not fit its text")

    @property
    def id(self) -> str:
        """``document_id:start-end``."""
        return f"{self.document_id}:{self.start}-{self.end}"


@dataclass(frozen=True, slots=True)
class RetrievedChunk:
    """A chunk with the score and rank (from 1) it was retrieved at, and what each retriever said of it.

    A rank and score of one retriever are None when that retriever did not return the chunk.
    """

    chunk: Chunk
    score: float
    rank: int
    dense_rank: int | None = None
    dense_score: float | None = None
    sparse_rank: int | None = None
    sparse_score: float | None = None
