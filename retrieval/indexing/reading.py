"""Read a source of documents into the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from data.documents import Document
from data.refused import RefusalLog, Refused, part
from data.store import Store
from retrieval.chunking.scripts import has_special_sentence_ends, needs_bigrams
from retrieval.errors import RetrievalError
from retrieval.generations.document_versions import StoredVersion, create_collection, store_documents

_MAX_REFUSALS = 100


@dataclass(frozen=True, slots=True)
class ReadBatch:
    """The documents of one transaction.

    versions: document IDs and stored versions, in source order. refused: refused documents.
    """

    collection_id: int
    versions: tuple[tuple[str, StoredVersion], ...]
    refused: tuple[Refused, ...]


@dataclass(slots=True)
class Reading:
    """Progress of reading, written by the reading thread and read by others.

    documents: number of documents stored. ended: whether the source has ended. stopped: set by another thread to end
    the reading after the current document. bigrams_needed: whether a document contains a script that needs character
    bigrams. rechunking_needed: whether an earlier version of Plumbline chunked a document differently.
    """

    documents: int = 0
    ended: bool = False
    stopped: bool = False
    bigrams_needed: bool = False
    rechunking_needed: bool = False

    def record_scripts(self, document: Document) -> None:
        """Record the scripts of a document before it is stored."""
        self.bigrams_needed = self.bigrams_needed or needs_bigrams(document.title) or needs_bigrams(document.text)
        self.rechunking_needed = self.rechunking_needed or chunked_differently_before(document)


def chunked_differently_before(document: Document) -> bool:
    """Return whether an earlier version of Plumbline chunked this document differently (sentence ends, headings)."""
    return bool(document.outline.headings) or has_special_sentence_ends(document.text)


def read_source(
    store: Store,
    collection: str,
    source: Iterable[Document | Refused],
    documents_per_commit: int,
    characters_per_commit: int,
    state: Reading,
) -> Iterator[ReadBatch]:
    """Store the documents of the source in batches, each in one transaction, and yield each batch.

    The collection's row is created with the first document. A document with a repeated ID, or one that cannot be
    encoded as UTF-8, is refused. For each reason, the first ``_MAX_REFUSALS`` refusals are reported, and the number of
    the others. state: updated with the progress. Raises RetrievalError at the end if there was no document.
    """
    seen: set[str] = set()
    refused: list[Refused] = []
    log = RefusalLog(_MAX_REFUSALS)
    waiting: list[Document] = []
    collection_id: int | None = None
    characters = 0

    def stored() -> ReadBatch:
        nonlocal collection_id
        if collection_id is None:
            collection_id = create_collection(store, collection)
        versions = store_documents(store, collection_id, waiting)
        state.documents += len(versions)
        return ReadBatch(collection_id, tuple(versions.items()), tuple(refused))

    for item in _closing(source):
        if state.stopped:
            return
        reason = "" if isinstance(item, Refused) else _refusal_reason(item, item.id in seen)
        if isinstance(item, Refused) or reason:
            refusal = item if isinstance(item, Refused) else part(f"document {item.id!r}", reason)
            if log.add(refusal):
                refused.append(refusal)
            continue
        seen.add(item.id)
        state.record_scripts(item)
        waiting.append(item)
        characters += len(item.text)
        if len(waiting) >= documents_per_commit or characters >= characters_per_commit:
            yield stored()
            waiting, refused, characters = [], [], 0
    refused.extend(log.overflow("other places"))
    if waiting:
        yield stored()
    elif refused and collection_id is not None:
        yield ReadBatch(collection_id, (), tuple(refused))
    state.ended = True
    if collection_id is None:
        groups = [group for group in log.groups() if group.kind != "note"]
        why = "; ".join(map(str, [refusal for group in groups for refusal in group.first][:3]))
        total_refused = sum(group.count for group in groups)
        raise RetrievalError(
            f"nothing to index for {collection!r}: the source gave no document"
            + (f"; refused: {total_refused} ({why})" if total_refused else "")
            + "; the collection is unchanged"
        )


def _closing(source: Iterable[Document | Refused]) -> Iterator[Document | Refused]:
    """Yield the source's items, and close the source even if the iteration stops early, to end parsing processes."""
    try:
        yield from source
    finally:
        close = getattr(source, "close", None)
        if close is not None:
            close()


def _refusal_reason(document: Document, seen: bool) -> str:
    """Return why the document is refused, "" if it is accepted."""
    if seen:
        return "an earlier document with the same id was kept; give each document a different id"
    try:
        "\0".join(
            (document.id, document.title, document.text, *(part for pair in document.metadata for part in pair))
        ).encode()
    except UnicodeEncodeError:
        return "it contains an unpaired surrogate, which is not a valid character: correct its encoding"
    return ""
