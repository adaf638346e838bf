"""Convert Documents to rows of the documents table, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from data.documents import Document
from data.outline import Outline


def document_values(document: Document, collection_id: int) -> dict[str, Any]:
    """Return the columns of one document version, for ``insert(documents).values(...)``."""
    return {
        "collection_id": collection_id,
        "document_id": document.id,
        "sha256": document.sha256,
        "title": document.title,
        "text": document.text,
        **document_details(document),
    }


def document_details(document: Document) -> dict[str, Any]:
    """Return the columns that a version's hash does not cover: metadata, and the outline (None if it is empty)."""
    return {"metadata": dict(document.metadata), "outline": document.outline.to_json() or None}


def document_from_row(row: Mapping[str, Any]) -> Document:
    """Return the Document in a row.

    row: a mapping (``result.mappings()``) with document_id, title, text, metadata and outline. Raises ValueError,
    TypeError or AttributeError if the row is damaged.
    """
    return Document(
        id=row["document_id"],
        title=row["title"],
        text=row["text"],
        metadata=tuple(sorted((str(key), str(value)) for key, value in row["metadata"].items())),
        outline=Outline.from_json(row.get("outline")),
    )
