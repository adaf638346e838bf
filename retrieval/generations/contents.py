"""List the documents and generations of a collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select

from data.documents import Document
from data.natural_order import natural_key
from data.schema import collections, documents, generation_documents, generations
from data.store import Store
from retrieval.generations.document_versions import DOCUMENT_COLUMNS, readable_rows, stored_document

MOST_SORTED = 50_000
"""Greatest number of documents for which numbers in IDs sort by value. All IDs are read for every page."""
_IDS_PER_QUERY = 500


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """Summary of a document. characters: length of its text. created_at: time at which this version was stored."""

    id: str
    title: str
    characters: int
    sha256: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A page of documents. total: number of documents on all pages."""

    documents: tuple[DocumentFacts, ...]
    total: int


@dataclass(frozen=True, slots=True)
class GenerationFacts:
    """Summary of an index generation. documents, chunks: numbers from its manifest, 0 if that cannot be read.

    index: kind of the vector index. published_at: None if the generation was never published.
    """

    hash: str
    status: str
    documents: int
    chunks: int
    index: str
    created_at: datetime
    published_at: datetime | None


def list_documents(store: Store, name: str, limit: int, offset: int = 0) -> DocumentPage:
    """Return a page of the published generation's documents, sorted by ID; empty if the collection does not exist.

    Numbers in IDs sort by value ("people.csv#2" before "people.csv#10"), up to MOST_SORTED documents. In larger
    collections the database sorts IDs by characters.
    """
    d = documents.c
    columns = (d.document_id, d.title, func.length(d.text).label("characters"), d.sha256, d.created_at)
    with store.read() as connection, readable_rows("documents"):
        total = int(connection.execute(_select_published(name, func.count())).scalar_one())
        if total > MOST_SORTED:
            rows = connection.execute(
                _select_published(name, *columns).order_by(d.document_id).limit(limit).offset(offset)
            ).all()
            return DocumentPage(tuple(DocumentFacts(*row) for row in rows), total)
        ids = sorted(connection.execute(_select_published(name, d.document_id)).scalars().all(), key=natural_key)
        page = ids[offset : offset + limit]
        facts: dict[str, DocumentFacts] = {}
        for start in range(0, len(page), _IDS_PER_QUERY):
            query = _select_published(name, *columns).where(d.document_id.in_(page[start : start + _IDS_PER_QUERY]))
            facts.update((row[0], DocumentFacts(*row)) for row in connection.execute(query).all())
    return DocumentPage(tuple(facts[one] for one in page), total)


def find_document(store: Store, name: str, document_id: str) -> Document | None:
    """Return a document of the published generation, or None. Raises RetrievalError if its row is damaged."""
    with store.read() as connection, readable_rows("documents"):
        query = _select_published(name, *DOCUMENT_COLUMNS).where(documents.c.document_id == document_id)
        row = connection.execute(query).mappings().first()
    return None if row is None else stored_document(row)


def list_generations(store: Store, name: str) -> tuple[GenerationFacts, ...]:
    """Return the generations of a collection, newest first. Retired generations no longer answer queries."""
    g = generations.c
    query = (
        select(g.hash, g.status, g.manifest, g.created_at, g.published_at)
        .join(collections, collections.c.id == g.collection_id)
        .where(collections.c.name == name)
        .order_by(g.published_at.desc(), g.id.desc())
    )
    with store.read() as connection, readable_rows("generations"):
        rows = connection.execute(query).mappings().all()
    return tuple(_generation_facts(row) for row in rows)


def _generation_facts(row: Mapping[Any, Any]) -> GenerationFacts:
    manifest = row["manifest"] if isinstance(row["manifest"], dict) else {}
    documents_, chunks = (manifest.get(key) for key in ("documents", "chunks"))
    return GenerationFacts(
        hash=row["hash"],
        status=row["status"],
        documents=documents_ if isinstance(documents_, int) else 0,
        chunks=chunks if isinstance(chunks, int) else 0,
        index=str(manifest.get("index", "")),
        created_at=row["created_at"],
        published_at=row["published_at"],
    )


def _select_published(name: str, *columns: Any) -> Select[Any]:
    """Select these columns of the document versions in the published generation."""
    return (
        select(*columns)
        .select_from(documents)
        .join(generation_documents, generation_documents.c.document_row == documents.c.id)
        .join(collections, collections.c.current_generation_id == generation_documents.c.generation_id)
        .where(collections.c.name == name)
    )
