"""The Document: a text from which questions are answered."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from data.outline import Outline


@dataclass(frozen=True, slots=True)
class Document:
    """A text with an ID.

    id: unique within a collection, never empty. title: may be empty. text: never empty. metadata: (key, value) pairs
    sorted by key, for display and filters; they are not searched. outline: offsets of headings and pages in the text,
    which ``data/location.py`` converts to locations such as "page 3, Notice".
    """

    id: str
    title: str
    text: str
    metadata: tuple[tuple[str, str], ...] = ()
    outline: Outline = field(default_factory=Outline)

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("a document's id must not be empty")
        if not self.text.strip():
            raise ValueError(f"document {self.id!r} has no text")
        if self.outline.end > len(self.text):
            raise ValueError(f"the outline of document {self.id!r} goes beyond its {len(self.text)} characters")

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) of the searched content: title and text, without metadata."""
        return hashlib.sha256(f"{self.title}\0{self.text}".encode()).hexdigest()


def with_pair(pairs: tuple[tuple[str, str], ...], key: str, value: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs sorted by key, with the pair (key, value) added unless the key is present."""
    return tuple(sorted({key: value, **dict(pairs)}.items()))
