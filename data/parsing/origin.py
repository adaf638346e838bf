"""The origin of some content: the names of its documents and refusals, and the line on which one begins."""

from __future__ import annotations

from dataclasses import dataclass

from data.documents import Document
from data.refused import Refused


@dataclass(frozen=True, slots=True)
class Origin:
    """Where content comes from.

    where: its name in messages (a path, ``archive.zip/member.txt``).
    document_id: the id of its document, or the prefix of the ids of several.
    metadata: metadata of each of its documents (such as the member path).
    depth: the number of archives around it.
    """

    where: str
    document_id: str
    metadata: tuple[tuple[str, str], ...] = ()
    depth: int = 0

    def inside(self, key: str, value: str) -> tuple[tuple[str, str], ...]:
        """Return the origin's metadata, sorted by key, with this pair added or replaced."""
        return tuple(sorted({**dict(self.metadata), key: value}.items()))

    def metadata_with(self, *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        """Return sorted metadata: the given pairs with a value, overridden by the origin's."""
        return tuple(sorted({**{key: value for key, value in more if value}, **dict(self.metadata)}.items()))


@dataclass(frozen=True, slots=True)
class NumberedDocument:
    """A document from a file with one document per line or row. line: where it begins, from 1."""

    document: Document
    line: int


Item = Document | NumberedDocument | Refused
"""What a parser yields."""
