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

# With sqlite_autoincrement, keys of deleted rows are not reused, so that a folder or cache named after a key cannot
# belong to two rows. PostgreSQL's sequences do not reuse keys anyway.


class _CollectionColumns(TypedColumns):
    id = Column(Integer, primary_key=True)
    name = Column(String(255), nullable=False, unique=True)
    created_at = Column(UtcDateTime, nullable=False, default=utc_now)
    tenant = Column(String(64), nullable=False, default="", server_default="")
    label: Named[str | None] = Column(String(255))
    # collections and generations refer to each other. On PostgreSQL the key is therefore added after both tables exist.
    # SQLite cannot add keys later, but accepts a key to a table that does not exist yet.
    current_generation_id: Named[int | None] = Column(
        Integer,
        ForeignKey("generations.id", ondelete="SET NULL", use_alter=True, name="fk_collections_current_generation_id"),
    )


collections = Table("collections", metadata, _CollectionColumns, sqlite_autoincrement=True)
"""Collections of documents.

name: internal name, unique among all tenants, because it names a folder. tenant: the owner, "" for the local user.
label: the name that the tenant uses, unique within the tenant; NULL if it equals the name. current_generation_id: the
published generation, if any.
"""

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
"""Document versions, one in a row.

A published generation answers from the versions that it was built from while later ones are indexed, so the text of a
version is not updated; its metadata and outline may be. sha256: SHA-256 of title and text (Document.sha256). outline:
positions of headings and pages, NULL if unknown. uploaded: whether the document was uploaded over HTTP, so that
indexing a folder does not remove it.
"""


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
"""Indexes of collections. folder: the folder of the files, relative to the home. manifest: the list of the files.

status: building, published or retired.
"""


class _GenerationDocumentColumns(TypedColumns):
    generation_id = Column(Integer, ForeignKey("generations.id", ondelete="CASCADE"), primary_key=True)
    # No cascade, so that a document version cannot be deleted while a generation uses it.
    document_row = Column(Integer, ForeignKey("documents.id"), primary_key=True, index=True)


generation_documents = Table("generation_documents", metadata, _GenerationDocumentColumns)
"""The document versions of each generation."""


class _VectorColumns(TypedColumns):
    encoder = Column(Text, primary_key=True)
    text_sha256 = Column(String(64), primary_key=True)
    vector = Column(LargeBinary, nullable=False)
    collection_id: Named[int | None] = Column(Integer, ForeignKey("collections.id", ondelete="SET NULL"), index=True)


vectors = Table("vectors", metadata, _VectorColumns)
"""Vectors of texts, so that a killed indexing job can resume and unchanged texts are not embedded again.

encoder: fingerprint of the encoder. text_sha256: SHA-256 of the text. vector: packed by retrieval/indexing/
vector_cache.py. collection_id: the collection for which it was computed; NULL if that collection was deleted.
"""

Index("ix_generations_collection_id_status", generations.c.collection_id, generations.c.status)
