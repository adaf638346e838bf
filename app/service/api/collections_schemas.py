"""Request and response schemas of collections, documents and generations."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.accounts.tenants import TenantCollection
from app.service.api.jobs_schemas import JobReply, Reply
from data.documents import Document
from retrieval.generations.contents import DocumentFacts, GenerationFacts

NAME = r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"


class CollectionBody(BaseModel):
    """A new, empty collection."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [{"name": "handbook"}]})

    name: str = Field(pattern=NAME, description="letters, digits, dots, dashes and underscores; no leading dot")


class CollectionDetail(Reply):
    """A collection. Index fields are 0 or null if no index is published. job: the collection's newest index job."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "name": "handbook",
                    "object": "collection",
                    "documents": 40,
                    "chunks": 312,
                    "generation": "9b1c" * 16,
                    "encoder": "53aa" * 16,
                    "created_at": "2026-11-21T12:00:00Z",
                    "published_at": "2026-11-21T12:01:00Z",
                    "job": None,
                }
            ]
        },
    )

    name: str
    object: Literal["collection"] = "collection"
    documents: int
    chunks: int
    generation: str | None
    encoder: str | None
    created_at: datetime
    published_at: datetime | None
    job: JobReply | None = None


class DocumentReply(Reply):
    """A document of a collection. id: ID of the document; for an uploaded file, its name."""

    id: str
    title: str
    characters: int
    sha256: str
    created_at: datetime


class DocumentsReply(Reply):
    """Documents, sorted by id. total: number of all documents of the collection, not only of this page."""

    object: Literal["list"] = "list"
    data: list[DocumentReply]
    total: int


class DocumentText(Reply):
    """A document with its text and metadata."""

    id: str
    title: str
    text: str
    metadata: dict[str, str]


class GenerationReply(Reply):
    """An index of a collection. Only a published index is searched."""

    hash: str
    status: Literal["building", "published", "retired"]
    documents: int
    chunks: int
    index: str = Field(description="kind of the vector index")
    created_at: datetime
    published_at: datetime | None


class GenerationsReply(Reply):
    """Generations, newest first."""

    object: Literal["list"] = "list"
    data: list[GenerationReply]


UPLOAD_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {
                            "type": "array",
                            "minItems": 1,
                            "items": {"type": "string", "format": "binary"},
                            "description": "each with a file name, which becomes the document's id; it may be a "
                            "relative path with forward slashes",
                        }
                    },
                }
            }
        },
    }
}


def detail(own: TenantCollection, job: JobReply | None) -> CollectionDetail:
    """Return the response for a collection. job: its newest index job; None if there is none."""
    info = own.info
    return CollectionDetail(
        name=own.name,
        documents=info.documents,
        chunks=info.chunks,
        generation=info.generation_hash,
        encoder=info.encoder,
        created_at=info.created_at,
        published_at=info.published_at,
        job=job,
    )


def document_reply(facts: DocumentFacts) -> DocumentReply:
    """Return the response for a document without its text."""
    return DocumentReply(
        id=facts.id,
        title=facts.title,
        characters=facts.characters,
        sha256=facts.sha256,
        created_at=facts.created_at,
    )


def document_text(document: Document) -> DocumentText:
    """Return the response for a document with its text."""
    return DocumentText(id=document.id, title=document.title, text=document.text, metadata=dict(document.metadata))


def generation_reply(facts: GenerationFacts) -> GenerationReply:
    """Return the response for a generation."""
    return GenerationReply(
        hash=facts.hash,
        status=facts.status,  # type: ignore[arg-type]  # the table's own check knows these three only
        documents=facts.documents,
        chunks=facts.chunks,
        index=facts.index,
        created_at=facts.created_at,
        published_at=facts.published_at,
    )
