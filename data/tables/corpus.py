"""Tables of indexed data: collections, documents, generations, vectors."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Named,
    String,
    Table,
    Text,
    TypedColumns,
    UniqueConstraint,
    false,
)

from data.columns import UtcDateTime, utc_now
from data.tables.shared import OBJECT, metadata

# sqlite_autoincrement: the number of a deleted row is never reused, so that a folder or a cache named after it cannot
# become another one's. (PostgreSQL's sequences do that anyway.)


class _CollectionColumns(TypedColumns):
    id = Column(Integer, primary_key=True)
    name = Column(String(255), nullable=False, unique=True)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)
    tenant = Column(String(64), nullable=False, default="", server_default="")
    label: Named[str | None] = Column(String(255))
    # collections and generations refer to each other, so this key is added after both tables exist (PostgreSQL) or
    # written into the table (SQLite, which cannot add keys later but checks them late).
    current_generation_id: Named[int | None] = Column(
        Integer,
        ForeignKey("generations.id", ondelete="SET NULL", use_alter=True, name="fk_collections_current_generation_id"),
    )


collections = Table("collections", metadata, _CollectionColumns, sqlite_autoincrement=True)
"""What a person indexes and asks under one name. current_generation_id: the generation that answers, if any. tenant:
whose it is, "" for this machine's own. label: what its tenant calls it, NULL where that is the name; names are unique
among all tenants (they name folders), labels within one."""

Index("uq_collections_tenant_label", collections.c.tenant, collections.c.label, unique=True)


class _DocumentColumns(TypedColumns):
    id = Column(Integer, primary_key=True)
    collection_id = Column(Integer, ForeignKey("collections.id", ondelete="CASCADE"), nullable=False)
    document_id = Column(Text, nullable=False)
    sha256 = Column(String(64), nullable=False)
    title = Column(Text, nullable=False)
    text = Column(Text, nullable=False)
    metadata: Named[dict[str, Any]] = Column(OBJECT, nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)
    outline: Named[dict[str, Any] | None] = Column(OBJECT)
    uploaded = Column(Boolean, nullable=False, default=False, server_default=false())


documents = Table(
    "documents",
    metadata,
    _DocumentColumns,
    UniqueConstraint("collection_id", "document_id", "sha256"),
    sqlite_autoincrement=True,
)
"""One *version* of a document a row, its text never updated (metadata and outline may be): a published generation
keeps answering from the version it was built from while a later one waits to be indexed. sha256: of title and text
(Document.sha256). outline: where its headings and pages are; NULL where nothing is known of them. uploaded: whether
it came over HTTP, so that indexing a folder does not remove it."""


class _GenerationColumns(TypedColumns):
    id = Column(Integer, primary_key=True)
    collection_id = Column(Integer, ForeignKey("collections.id", ondelete="CASCADE"), nullable=False)
    hash = Column(String(64), nullable=False)
    folder = Column(Text, nullable=False)
    status = Column(String(16), nullable=False)
    manifest: Named[dict[str, Any]] = Column(OBJECT, nullable=False)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)
    published_at: Named[datetime | None] = Column(UtcDateTime)


generations = Table(
    "generations",
    metadata,
    _GenerationColumns,
    UniqueConstraint("collection_id", "hash"),
    CheckConstraint("status IN ('building', 'published', 'retired')", name="status"),
    sqlite_autoincrement=True,
)
"""An index of a collection: a folder of files and the manifest they are checked against."""


class _GenerationDocumentColumns(TypedColumns):
    generation_id = Column(Integer, ForeignKey("generations.id", ondelete="CASCADE"), primary_key=True)
    # No cascade: a document version cannot be deleted while a generation still uses it.
    document_row = Column(Integer, ForeignKey("documents.id"), primary_key=True, index=True)


generation_documents = Table("generation_documents", metadata, _GenerationDocumentColumns)
"""Document versions of each generation."""


class _VectorColumns(TypedColumns):
    encoder = Column(Text, primary_key=True)
    text_sha256 = Column(String(64), primary_key=True)
    vector = Column(LargeBinary, nullable=False)
    collection_id: Named[int | None] = Column(Integer, ForeignKey("collections.id", ondelete="SET NULL"), index=True)


vectors = Table("vectors", metadata, _VectorColumns)
"""Embeddings by content: an index job that was killed resumes here, and unchanged text is never embedded again.
encoder: its fingerprint. vector: as the encoder's owner packs it. collection_id: whom it was made for, and who may
remove it once no generation needs it; NULL when that collection is gone."""

Index("ix_generations_collection_id_status", generations.c.collection_id, generations.c.status)
