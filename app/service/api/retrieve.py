"""/v1/retrieve: search results without a generated answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field, field_validator

from app.accounts.tenants import TenantCollection, tenant_collections
from app.retrieval.chunk_locations import chunk_locations
from app.service.api.jobs_schemas import Reply
from app.service.api.json_route import JsonRoute, error_responses
from app.service.api.resources import Resources, missing, resources
from app.service.http.access import Caller, require
from app.service.http.errors import ApiError
from data.blank import is_blank
from retrieval.chunking.chunks import RetrievedChunk
from retrieval.retriever import Fusion, Mode

retrieve_router = APIRouter(route_class=JsonRoute, tags=["query"])

_EXAMPLE: dict[str, Any] = {"query": "warranty of the Heron 4", "collection": "handbook", "k": 4}


class RetrieveBody(BaseModel):
    """A search query and its options."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [_EXAMPLE]})

    query: str = Field(min_length=1, description="the query text; the server sets its maximum length")
    collection: str | None = Field(
        default=None, max_length=64, description="collection to search; default: the only one"
    )
    k: int = Field(default=4, ge=1, le=100, description="number of chunks to retrieve")
    mode: Mode | None = Field(default=None, description="retrievers to use; default: the collection's settings")
    fusion: Fusion | None = Field(
        default=None, description="fusion of a hybrid search; default: the collection's settings"
    )

    @field_validator("query")
    @classmethod
    def _not_blank(cls, query: str) -> str:
        if is_blank(query):
            raise ValueError("the query is empty: enter a text")
        if "\0" in query:
            raise ValueError("the query contains a NUL character: remove it")
        return query


class ChunkReply(Reply):
    """A retrieved chunk. start, end: character offsets in the document. place: location as text, such as a page or
    heading.
    """

    document_id: str
    title: str
    start: int
    end: int
    place: str
    text: str
    rank: int
    score: float
    dense_rank: int | None
    sparse_rank: int | None


class RetrieveReply(Reply):
    """Retrieved chunks, best first. generation: hash of the searched index. search: the search settings as text."""

    object: Literal["list"] = "list"
    collection: str
    generation: str
    search: str
    data: list[ChunkReply]


@retrieve_router.post(
    "/v1/retrieve",
    summary="Search a collection",
    responses=error_responses(400, 401, 403, 404, 408, 413, 415, 422, 429, 500, 503),
)
async def retrieve(
    body: RetrieveBody,
    caller: Annotated[Caller, Depends(require("query"))],
    resources: Annotated[Resources, Depends(resources)],
) -> RetrieveReply:
    """Return the chunks that would be retrieved to answer this query."""
    most = resources.pipeline.settings.max_question_characters
    if len(body.query) > most:
        message = f"query has {len(body.query)} characters: this server accepts at most {most}"
        raise ApiError(422, message, code="invalid_value", param="query")

    def searched() -> RetrieveReply:
        own = chosen(resources, caller, body.collection)
        search = resources.pipeline.search(own.stored, body.mode, body.fusion)
        hits = search.retrieve(body.query, body.k)
        places = chunk_locations(resources.pipeline.store, own.stored, [one.chunk for one in hits])
        data = [_chunk(one, places[one.chunk.id]) for one in hits]
        generation = search.retriever.generation_hash
        return RetrieveReply(collection=own.name, generation=generation, search=search.settings, data=data)

    return await resources.do(searched)


def chosen(resources: Resources, caller: Caller, name: str | None) -> TenantCollection:
    """Return the caller's collection of this name; without a name, the only one.

    Raises ApiError 404 if there is none, 422 if the name is missing and there are several, and 503 if the collection
    has no index.
    """
    if name is not None:
        own = resources.own(caller.tenant, name)
    else:
        known = tenant_collections(resources.pipeline.store, caller.tenant)
        if not known:
            raise missing("collection")
        if len(known) > 1:
            message = f"there are several collections: name one of {', '.join(one.name for one in known)}"
            raise ApiError(422, message, code="invalid_value", param="collection")
        own = known[0]
    if own.info.generation_hash is None:
        raise ApiError(
            503,
            f"the collection {own.name!r} has no published index yet: upload documents, or wait for its job",
            code="collection_not_ready",
            param="collection",
            retry_after=5,
        )
    return own


def _chunk(found: RetrievedChunk, place: str) -> ChunkReply:
    chunk = found.chunk
    return ChunkReply(
        document_id=chunk.document_id,
        title=chunk.title,
        start=chunk.start,
        end=chunk.end,
        place=place,
        text=chunk.text,
        rank=found.rank,
        score=found.score,
        dense_rank=found.dense_rank,
        sparse_rank=found.sparse_rank,
    )
