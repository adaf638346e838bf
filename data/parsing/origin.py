"""The origin of content, from which the names of its documents and refusals are derived."""

from __future__ import annotations

from dataclasses import dataclass

from data.documents import Document
from data.refused import Refused


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of content.

    where: name of the content in messages, such as a path or ``archive.zip/member.txt``.
    document_id: ID of the document, or the prefix of the IDs of several documents.
    metadata: metadata of each document, such as the member path.
    depth: number of archives around the content.
    """

    where: str
    document_id: str
    metadata: tuple[tuple[str, str], ...] = ()
    depth: int = 0

    def inside(self, key: str, value: str) -> tuple[tuple[str, str], ...]:
        """Return the origin's metadata, sorted by key, with this pair added or replaced."""
        return tuple(sorted({**dict(self.metadata), key: value}.items()))

    def metadata_with(self, *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        """Return the given pairs that have a value and the origin's metadata, which take precedence, sorted by key."""
        return tuple(sorted({**{key: value for key, value in more if value}, **dict(self.metadata)}.items()))


@dataclass(frozen=True, slots=True)
class NumberedDocument:
    """A document from a file with one document per line or row. line: line on which it starts, from 1."""

    document: Document
    line: int


Item = Document | NumberedDocument | Refused
"""An item that a parser yields."""
