"""The Origin of some content: what its documents and refusals are called, and on which line one began."""

from __future__ import annotations

from dataclasses import dataclass

from data.documents import Document
from data.refused import Refused


@dataclass(frozen=True, slots=True)
class Origin:
    """where: how the content is named to people (a path, ``archive.zip/member.txt``). document_id: for the document it
    holds, or the beginning of the ids of many. metadata: what every document of it carries (such as its member path).
    depth: how many archives it lies in."""

    where: str
    document_id: str
    metadata: tuple[tuple[str, str], ...] = ()
    depth: int = 0

    def inside(self, key: str, value: str) -> tuple[tuple[str, str], ...]:
        """Pairs sorted by key: those of the origin, and this one in place of one of its key."""
        return tuple(sorted({**dict(self.metadata), key: value}.items()))

    def metadata_with(self, *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        """Pairs sorted by key: the given ones that have a value, and those of the origin, which win."""
        return tuple(sorted({**{key: value for key, value in more if value}, **dict(self.metadata)}.items()))


@dataclass(frozen=True, slots=True)
class NumberedDocument:
    """A document of a file that has one on each line or row. line: where it begins, from 1."""

    document: Document
    line: int


Item = Document | NumberedDocument | Refused
"""What a parser gives, one after the other."""
