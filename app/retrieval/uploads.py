"""Keep uploaded documents when a collection is indexed again from sources that do not contain them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing

from sqlalchemy import select, update

from data.documents import Document
from data.refused import Refused
from data.schema import collections, documents, generation_documents
from data.store import Store
from retrieval.collections import linked_versions
from retrieval.generations.document_versions import read_documents

_AT_ONCE = 500


class UploadedSources:
    """The sources of a collection, completed by its uploaded documents.

    kept: IDs of the uploaded documents that no source contains. It is set when the sources have been read.
    """

    def __init__(self, store: Store, stored: str) -> None:
        self._store, self._stored = store, stored
        self._also_uploaded: list[str] = []
        self.kept: tuple[str, ...] = ()

    def completed(self, source: Iterator[Document | Refused]) -> Iterator[Document | Refused]:
        """Yield the items of a source, then the uploaded documents that it does not contain.

        If the source yields no document, uploaded documents are not added.
        """
        seen: set[str] = set()
        with closing(source) as opened:  # type: ignore[type-var]  # a generator, typed as an iterator, has close
            for item in opened:
                if isinstance(item, Document):
                    seen.add(item.id)
                yield item
        if not seen:
            return
        uploaded = uploaded_ids(self._store, self._stored)
        self._also_uploaded = [name for name in uploaded if name in seen]
        self.kept = tuple(name for name in uploaded if name not in seen)
        staying = set(self.kept)
        versions = linked_versions(self._store, self._stored) if staying else {}
        for one in read_documents(self._store, [v for k, v in versions.items() if k.document_id in staying]):
            yield one.document

    def mark_sourced(self) -> None:
        """Mark uploaded documents that a source also contains as not uploaded. Call it after indexing."""
        mark_uploaded(self._store, self._stored, self._also_uploaded, uploaded=False)


def uploaded_ids(store: Store, stored: str) -> tuple[str, ...]:
    """Return the sorted IDs of the uploaded documents in a collection's published generation."""
    with store.read() as connection:
        found = connection.execute(
            select(documents.c.document_id)
            .join(generation_documents, generation_documents.c.document_row == documents.c.id)
            .join(collections, collections.c.current_generation_id == generation_documents.c.generation_id)
            .where(collections.c.name == stored, documents.c.uploaded)
            .order_by(documents.c.document_id)
        )
        return tuple(found.scalars())


def mark_uploaded(store: Store, stored: str, ids: Sequence[str], *, uploaded: bool = True) -> None:
    """Set whether documents of a collection count as uploaded."""
    collection = select(collections.c.id).where(collections.c.name == stored).scalar_subquery()
    for some in _groups(ids):
        with store.write(exclusive=False) as connection:
            wanted = (documents.c.collection_id == collection, documents.c.document_id.in_(some))
            connection.execute(update(documents).where(*wanted).values(uploaded=uploaded))


def _groups(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))
