"""Streaming a source of documents into the store. Knows nothing of chunks or vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from data.documents import Document
from data.refused import Refused
from data.store import Store
from retrieval.document_versions import StoredVersion, create_collection, store_documents
from retrieval.errors import RetrievalError


@dataclass(frozen=True, slots=True)
class SourceContent:
    """versions: (document id, stored version), sorted by id. refused: what was not taken, and why."""

    collection_id: int
    versions: tuple[tuple[str, StoredVersion], ...]
    refused: tuple[Refused, ...]


def read_source(
    store: Store,
    collection: str,
    source: Iterable[Document | Refused],
    documents_per_commit: int,
    characters_per_commit: int,
    progress: Callable[[int], None],
) -> SourceContent:
    """Store every document of the source, some at a time, each lot in one transaction, then ``progress(documents)``.

    The collection's row is made with the first document. A second document of the same id, and one that cannot be
    written as UTF-8, is refused. Raises RetrievalError if nothing is left.
    """
    versions: dict[str, StoredVersion] = {}
    refused: list[Refused] = []
    waiting: dict[str, Document] = {}
    collection_id: int | None = None
    characters = 0
    for item in source:
        if isinstance(item, Refused):
            refused.append(item)
            continue
        reason = _unfit(item, item.id in versions or item.id in waiting)
        if reason:
            refused.append(Refused(f"document {item.id!r}", reason))
            continue
        waiting[item.id] = item
        characters += len(item.text)
        if len(waiting) >= documents_per_commit or characters >= characters_per_commit:
            collection_id = create_collection(store, collection) if collection_id is None else collection_id
            versions.update(store_documents(store, collection_id, tuple(waiting.values())))
            waiting, characters = {}, 0
            progress(len(versions))
    if waiting:
        collection_id = create_collection(store, collection) if collection_id is None else collection_id
        versions.update(store_documents(store, collection_id, tuple(waiting.values())))
    if collection_id is None:
        shown = "; ".join(f"{r.where}: {r.reason}" for r in refused[:3])
        raise RetrievalError(
            f"nothing to index for {collection!r}: the source gave no document"
            + (f" and {len(refused)} were refused ({shown})" if refused else "")
            + "; the collection stays as it was"
        )
    progress(len(versions))
    return SourceContent(collection_id, tuple(sorted(versions.items())), tuple(refused))


def _unfit(document: Document, seen: bool) -> str:
    """Why the document cannot be taken; empty if it can."""
    if seen:
        return "an earlier document has the same id and is kept; give each its own"
    try:
        "\0".join(
            (document.id, document.title, document.text, *(part for pair in document.metadata for part in pair))
        ).encode()
    except UnicodeEncodeError:
        return "it holds half of a surrogate pair, which is no character; repair its encoding"
    return ""
