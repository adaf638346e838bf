"""Where retrieved chunks stand in their documents, in the words of who wrote them: page, heading, line."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from data.document_rows import document_from_row
from data.places import place_of
from data.schema import collections, documents, generation_documents
from data.store import Store
from retrieval.chunks import Chunk
from retrieval.document_versions import DOCUMENT_COLUMNS


def shown_places(store: Store, collection: str, chunks: Sequence[Chunk]) -> dict[str, str]:
    """By chunk id, ``page 3, Notice, line 12``; empty where nothing is known.

    The documents are those that the published generation answers from. A chunk that does not stand in them any more (a
    newer generation was published meanwhile) gets an empty place too.
    """
    wanted = sorted({chunk.document_id for chunk in chunks})
    if not wanted:
        return {}
    statement = (
        select(*DOCUMENT_COLUMNS)
        .join(generation_documents, generation_documents.c.document_row == documents.c.id)
        .join(collections, collections.c.current_generation_id == generation_documents.c.generation_id)
        .where(collections.c.name == collection, documents.c.document_id.in_(wanted))
    )
    with store.read() as connection:
        held = {row["document_id"]: document_from_row(dict(row)) for row in connection.execute(statement).mappings()}
    places: dict[str, str] = {}
    for chunk in chunks:
        document = held.get(chunk.document_id)
        same = document is not None and document.text[chunk.start : chunk.end] == chunk.text
        places[chunk.id] = place_of(document, chunk.start, chunk.end).shown() if document is not None and same else ""
    return places
