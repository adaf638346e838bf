"""Chunks of documents, and chunks retrieved for a query."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chunk:
    """A contiguous span of a document, with ``document.text[start:end] == text``. Offsets are in characters.

    title: title of the document, for prompts and pages.
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
        """ID of the chunk: ``document_id:start-end``."""
        return f"{self.document_id}:{self.start}-{self.end}"


@dataclass(frozen=True, slots=True)
class RetrievedChunk:
    """A chunk with its final score and rank (from 1), and its score and rank in each retriever.

    The rank and score of a retriever are None if that retriever did not return the chunk.
    """

    chunk: Chunk
    score: float
    rank: int
    dense_rank: int | None = None
    dense_score: float | None = None
    sparse_rank: int | None = None
    sparse_score: float | None = None
