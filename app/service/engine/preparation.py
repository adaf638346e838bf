"""Prepare prompts for several requests at once: find collections, and batch searches with equal settings.

The queries of a batch are encoded together, which costs little more than encoding one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from sqlalchemy import select

from app.answering.answer_parts import SearchRecord
from app.answers import QueryRequest
from app.pipeline import Pipeline
from app.service.engine.chunk_locations import ChunkLocator
from app.service.http.errors import ApiError
from data.schema import collections
from generation.generator import Generator
from generation.live import InstructedGenerator
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk
from retrieval.retriever import Retriever
from retrieval.search import Search

Found = tuple[RetrievedChunk, ...]


@dataclass(frozen=True, slots=True)
class Preparation:
    """A request to prepare.

    request: the query; its question is searched for and answered.
    tenant: the owner of the collections.
    instructions: instructions of the caller, placed before the generator's.
    judged: whether a collection is needed for verification.
    """

    request: QueryRequest
    tenant: str
    instructions: str = ""
    judged: bool = False


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A prepared query.

    stored: the searched collection's name in the store; None without retrieval.
    judge: name in the store of the collection for verification; None if not requested.
    retrieval_s: seconds of this batch's searches.
    """

    prompt: Prompt
    searched: SearchRecord
    stored: str | None
    judge: str | None
    retrieval_s: float


@dataclass(frozen=True, slots=True)
class _Collection:
    """A collection of a tenant. name: the tenant's name for it. stored: its name in the store."""

    name: str
    stored: str
    published: bool


@dataclass(slots=True)
class _Item:
    """A query in a batch. error: its first error; later steps skip the query."""

    asked: Preparation
    collection: _Collection | None = None
    search: Search | None = None
    chunks: Found = ()
    locations: Mapping[str, str] = field(default_factory=dict)
    prompt: Prompt | None = None
    error: Exception | None = None

    @property
    def searches(self) -> bool:
        return self.asked.request.retrieval and self.error is None


class QueryPreparer:
    """The work function of a MicroBatcher of Preparations."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._locator = ChunkLocator()

    def __call__(self, items: Sequence[Preparation]) -> list[PreparedQuery | Exception]:
        """Return one result per item: the prepared query, or its error (often an ApiError)."""
        batch = [_Item(item) for item in items]
        known = {tenant: self._collections(tenant) for tenant in {item.tenant for item in items}}
        for item in batch:
            with _own_error([item]):
                item.collection = _collection(item.asked, known[item.asked.tenant])
        started = perf_counter()
        self._search([item for item in batch if item.searches])
        self._locate([item for item in batch if item.searches])
        seconds = perf_counter() - started
        return [self._prepared(item, seconds) for item in batch]

    def _prepared(self, item: _Item, seconds: float) -> PreparedQuery | Exception:
        if item.error is None:
            with _own_error([item]):
                item.prompt = _prompt(self._pipeline.generator, item.asked, item.chunks)
        if item.error is not None or item.prompt is None:
            return item.error or AssertionError("a query was prepared without a prompt")
        collection, search = item.collection, item.search
        if collection is None or search is None:
            searched, stored, seconds = SearchRecord(), None, 0.0
        else:
            hash_ = search.retriever.generation_hash
            searched = SearchRecord(collection.name, hash_, search.settings, item.locations)
            stored = collection.stored
        judge = collection.stored if collection is not None and item.asked.judged else None
        return PreparedQuery(item.prompt, searched, stored, judge, seconds)

    def _collections(self, tenant: str) -> dict[str, _Collection]:
        """Return the tenant's collections by the tenant's names."""
        c = collections.c
        with self._pipeline.store.read() as connection:
            rows = connection.execute(
                select(c.name, c.label, c.current_generation_id).where(c.tenant == tenant).order_by(c.name)
            ).all()
        return {label or name: _Collection(label or name, name, current is not None) for name, label, current in rows}

    def _search(self, batch: Sequence[_Item]) -> None:
        """Search once for all queries with the same collection and settings."""
        groups: dict[tuple[object, ...], list[_Item]] = {}
        for item in batch:
            if item.collection is not None:
                request = item.asked.request
                groups.setdefault((item.collection.stored, request.k, request.mode, request.fusion), []).append(item)
        for (stored, *_), members in groups.items():
            first = members[0].asked.request
            with _own_error(members):
                search = self._pipeline.search(str(stored), first.mode, first.fusion)
                hits = search.retrieve_many([item.asked.request.question for item in members], first.k)
                for item, chunks in zip(members, hits, strict=True):
                    item.search, item.chunks = search, chunks

    def _locate(self, batch: Sequence[_Item]) -> None:
        """Find the locations of the chunks, once for all queries on the same index."""
        groups: dict[tuple[str, Retriever], list[_Item]] = {}
        for item in batch:
            if item.collection is not None and item.search is not None:
                groups.setdefault((item.collection.stored, item.search.retriever), []).append(item)
        for (stored, retriever), members in groups.items():
            chunks = {hit.chunk.id: hit.chunk for item in members for hit in item.chunks}
            with _own_error(members):
                locations = self._locator.places(self._pipeline.store, stored, retriever, tuple(chunks.values()))
                for item in members:
                    item.locations = locations


@contextmanager
def _own_error(items: Sequence[_Item]) -> Iterator[None]:
    """Assign an error that is raised inside the block to these items."""
    try:
        yield
    except Exception as error:  # the other queries of the batch continue
        for item in items:
            item.error = item.error or error


def _collection(item: Preparation, known: dict[str, _Collection]) -> _Collection | None:
    """Return the collection to search or judge by; None if neither is requested. Raises ApiError 404, 422 or 503."""
    request = item.request
    name = request.collection
    needed = request.retrieval or item.judged
    if name is None and not needed:
        return None
    if name is None and len(known) == 1:
        name = next(iter(known))
    if name is None and known:
        raise ApiError(
            422,
            f"there are several collections: name one of {', '.join(known)}",
            code="invalid_value",
            param="collection",
        )
    if name is None or name not in known:
        what = "there is no collection yet" if name is None else f"there is no collection {name!r}"
        names = f"; the existing ones are {', '.join(known)}" if known else ""
        raise ApiError(404, what + names, code="collection_not_found", param="collection")
    if needed and not known[name].published:
        raise ApiError(
            503,
            f"the collection {name!r} has no published index: its indexing has not finished",
            code="collection_not_ready",
            param="collection",
            retry_after=30,
        )
    return known[name]


def _prompt(generator: Generator, item: Preparation, chunks: Found) -> Prompt:
    request = item.request
    if item.instructions and isinstance(generator, InstructedGenerator):
        return generator.instructed_prompt(request.question, chunks, request.params.max_tokens, item.instructions)
    return generator.prompt(request.question, chunks, request.params.max_tokens)
