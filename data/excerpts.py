"""Passages referenced by their position in a document, for questions whose passages may not be redistributed."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.documents import Document
from data.errors import DataError
from data.loaders import load_documents
from data.refused import Refused


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A span of a document: characters ``start`` to ``end`` of its text.

    document: ID of the document. sha256: SHA-256 (hex) of the span in UTF-8. Raises ValueError for an empty or negative
    span.
    """

    document: str
    start: int
    end: int
    sha256: str

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"an excerpt from character {self.start} to {self.end} is empty or invalid")

    @property
    def name(self) -> str:
        """Display name."""
        return f"characters {self.start} to {self.end} of document {self.document!r}"


def read_excerpt(value: object) -> Excerpt:
    """Return the excerpt in an object ``{"document", "start", "end", "sha256"}``.

    Raises ValueError, which names a field that is missing or has the wrong type.
    """
    if not isinstance(value, dict):
        raise ValueError("excerpt must be an object of document, start, end and sha256")
    for name, kind in (("document", str), ("start", int), ("end", int), ("sha256", str)):
        if not isinstance(value.get(name), kind) or isinstance(value.get(name), bool):
            raise ValueError(f"excerpt needs {name}, {'text' if kind is str else 'an integer'}")
    return Excerpt(value["document"], value["start"], value["end"], value["sha256"].lower())


@dataclass(frozen=True, slots=True)
class ExcerptTexts:
    """The texts of excerpts.

    found: title of the document and text of each excerpt whose document was read. refused: documents that could not be
    read.
    """

    found: Mapping[Excerpt, tuple[str, str]]
    refused: tuple[Refused, ...] = ()

    @property
    def missing_note(self) -> str:
        """Note for messages about a missing document: the number of unreadable documents, and the first; or ""."""
        if not self.refused:
            return ""
        return f" ({len(self.refused)} of them could not be read, the first: {self.refused[0]})"


def excerpt_texts(excerpts: Collection[Excerpt], texts: Sequence[Path]) -> ExcerptTexts:
    """Return the texts of the excerpts that are in the documents of ``texts``. Others are left out.

    Raises DataError if the text of an excerpt has another SHA-256, because the document has changed, and the errors of
    load_documents.
    """
    of_document: dict[str, list[Excerpt]] = {}
    for excerpt in excerpts:
        of_document.setdefault(excerpt.document, []).append(excerpt)
    found: dict[Excerpt, tuple[str, str]] = {}
    refused: list[Refused] = []
    for document in load_documents(texts) if excerpts and texts else ():
        if not isinstance(document, Document):
            refused.append(document)
            continue
        for excerpt in of_document.get(document.id, ()):
            text = document.text[excerpt.start : excerpt.end]
            if hashlib.sha256(text.encode()).hexdigest() != excerpt.sha256:
                raise DataError(
                    f"{excerpt.name} are not the text that the questions are about: the document has changed, or "
                    "another one has its id"
                )
            found[excerpt] = (document.title, text)
    return ExcerptTexts(found, tuple(refused))
