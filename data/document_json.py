"""Build a Document from the fields of a JSON object."""

from __future__ import annotations

import json
from collections.abc import Mapping

from data.blank import is_blank
from data.documents import Document
from data.fields import FieldError, as_text, identifier, kind_of


def document_from_fields(fields: Mapping[str, object]) -> Document:
    """Return the Document of an object ``{"id" | "_id", "title", "text", "metadata"}``. Other fields are ignored.

    The text is not modified, so that existing offsets stay valid. title and metadata may be missing or null. If only
    the title has text, it becomes the text of the document (some BEIR sets have such documents). Raises FieldError,
    which names the field.
    """
    document_id = identifier(fields, "id", "_id")
    if "text" not in fields:
        raise FieldError(f'document {document_id!r} has no "text"')
    text = as_text(fields["text"], "text")
    given = fields.get("title")
    title = "" if given is None else as_text(given, "title")
    if is_blank(text):
        if is_blank(title):
            raise FieldError(f'the "text" of document {document_id!r} is empty, and it has no "title" to use instead')
        title, text = "", title
    return Document(
        id=document_id,
        title=title,
        text=text,
        metadata=_metadata(fields.get("metadata")),
    )


def _metadata(value: object) -> tuple[tuple[str, str], ...]:
    """Return the pairs sorted by key. Text is unchanged, null is dropped, and other values are written as JSON."""
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise FieldError(f'"metadata" is {kind_of(value)}, it must be an object')
    pairs: list[tuple[str, str]] = []
    for key, item in sorted(value.items()):
        if item is None:
            continue
        written = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, sort_keys=True)
        pairs.append((as_text(key, "metadata"), as_text(written, f"metadata.{key}")))
    return tuple(pairs)
