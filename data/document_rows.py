"""A Document as a row of the documents table, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from data.documents import Document


def document_values(document: Document, collection_id: int) -> dict[str, Any]:
    """The columns of one document version, ready for ``insert(documents).values(...)``."""
    return {
        "collection_id": collection_id,
        "document_id": document.id,
        "sha256": document.sha256,
        "title": document.title,
        "text": document.text,
        "metadata": dict(document.metadata),
    }


def document_from_row(row: Mapping[str, Any]) -> Document:
    """The Document of a row's mapping (``result.mappings()``) that has document_id, title, text and metadata."""
    return Document(
        id=row["document_id"],
        title=row["title"],
        text=row["text"],
        metadata=tuple(sorted((str(key), str(value)) for key, value in row["metadata"].items())),
    )
