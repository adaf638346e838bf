"""Find the page, heading and line of retrieved chunks in their documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlalchemy import select

from data.document_rows import document_from_row
from data.location import location_of
from data.schema import collections, documents, generation_documents
from data.store import Store
from retrieval.chunking.chunks import Chunk
from retrieval.generations.document_versions import DOCUMENT_COLUMNS


class LocatedText(Protocol):
    """A part of a document, with the text that it had at the time of retrieval."""

    @property
    def document_id(self) -> str:
        """ID of the document."""
        ...

    @property
    def start(self) -> int:
        """Offset of the first character in the document."""
        ...

    @property
    def end(self) -> int:
        """Offset after the last character."""
        ...

    @property
    def text(self) -> str:
        """Text of the part."""
        ...


def chunk_locations(store: Store, collection: str, chunks: Sequence[Chunk]) -> dict[str, str]:
    """Return the locations of chunks by chunk ID; see ``locations_of``."""
    return dict(zip((chunk.id for chunk in chunks), locations_of(store, collection, chunks), strict=True))


def locations_of(store: Store, collection: str, stretches: Sequence[LocatedText]) -> tuple[str, ...]:
    """Return a location such as ``page 3, Notice, line 12`` for each part, "" if it is unknown.

    The documents are those of the published generation. The location is also "" if the text of a part has changed
    since its retrieval.
    """
    ids = sorted({stretch.document_id for stretch in stretches})
    if not ids:
        return ()
    statement = (
        select(*DOCUMENT_COLUMNS)
        .join(generation_documents, generation_documents.c.document_row == documents.c.id)
        .join(collections, collections.c.current_generation_id == generation_documents.c.generation_id)
        .where(collections.c.name == collection, documents.c.document_id.in_(ids))
    )
    with store.read() as connection:
        by_id = {row["document_id"]: document_from_row(dict(row)) for row in connection.execute(statement).mappings()}
    locations = []
    for stretch in stretches:
        document = by_id.get(stretch.document_id)
        same = document is not None and document.text[stretch.start : stretch.end] == stretch.text
        known = document is not None and same and stretch.start < stretch.end
        locations.append(
            location_of(document, stretch.start, stretch.end).shown() if document is not None and known else ""
        )
    return tuple(locations)
