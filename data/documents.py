"""The Document: what a person wants questions answered from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Document:
    """One text with a name of its own.

    id: unique within a collection, never empty. title: may be empty. text: never empty. metadata: (key, value) pairs,
    sorted by key, for people and filters; it is not part of what is searched.
    """

    id: str
    title: str
    text: str
    metadata: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("a document's id must not be empty")
        if not self.text.strip():
            raise ValueError(f"document {self.id!r} has no text")

    @property
    def sha256(self) -> str:
        """Hash (hex) of what is searched: title and text, not metadata."""
        return hashlib.sha256(f"{self.title}\0{self.text}".encode()).hexdigest()
