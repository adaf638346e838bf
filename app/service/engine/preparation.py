"""From questions to prompts, for several requests at once: collections found, one search for all that search alike.

The queries of a batch go through the encoder together, which costs little more than one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import ParamSpec, TypeVar

from sqlalchemy import select

from app.answers import QueryRequest
from app.pipeline import Pipeline
from app.service.engine.chunk_locations import ChunkLocator
from app.service.http.errors import ApiError
from data.schema import collections
from generation.generator import Generator
from generation.live import InstructedGenerator
from generation.prompt import Prompt
from retrieval.chunking.chunks import Chunk, RetrievedChunk
from retrieval.retriever import Retriever
from retrieval.search import Search

Given = ParamSpec("Given")
Made = TypeVar("Made")
Found = tuple[RetrievedChunk, ...]


@dataclass(frozen=True, slots=True)
class Preparation:
    """request.question: what is searched for and asked. tenant: whose collections may be searched. instructions: of the
    caller's own, in front of the generator's. judged: whether a collection is needed to judge the answer by."""

    request: QueryRequest
    tenant: str
    instructions: str = ""
    judged: bool = False


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """collection: as its tenant calls it, stored: as the store does, generation: hash of the index that was searched;
    search: how, in words; None without retrieval. judge: the stored name of the collection that judges, None where none
    was asked for. retrieval_s: seconds that this batch's searches took. places: where what was found stands in its
    document, in words, by chunk id."""

    prompt: Prompt
    collection: str | None
    stored: str | None
    generation: str | None
    search: str | None
    judge: str | None
    retrieval_s: float
    places: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Place:
    """A collection of a tenant's."""

    name: str
    stored: str
    published: bool


class QueryPreparer:
    """The work of a MicroBatcher of Preparations."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._placing = ChunkLocator()

    def __call__(self, items: Sequence[Preparation]) -> list[PreparedQuery | Exception]:
        """One result an item: prompts, or the ApiError or other error that stands in the way."""
        known = {tenant: self._places(tenant) for tenant in {item.tenant for item in items}}
        places = [_attempt(_place, item, known[item.tenant]) for item in items]
        started = perf_counter()
        searches, found = self._search(items, places)
        standing = self._standing(places, searches, found)
        seconds = perf_counter() - started
        out: list[PreparedQuery | Exception] = []
        for item, place, search, chunks, words in zip(items, places, searches, found, standing, strict=True):
            error = next((e for e in (place, search, chunks, words) if isinstance(e, Exception)), None)
            if isinstance(place, Exception) or isinstance(chunks, Exception) or isinstance(words, Exception) or error:
                out.append(error or AssertionError("an error that is none"))
                continue
            prompt = _attempt(_prompt, self._pipeline.generator, item, chunks)
            if isinstance(prompt, Exception):
                out.append(prompt)
                continue
            searched = place if item.request.retrieval else None
            out.append(
                PreparedQuery(
                    prompt,
                    None if searched is None else searched.name,
                    None if searched is None else searched.stored,
                    search.retriever.generation_hash if isinstance(search, Search) else None,
                    search.settings if isinstance(search, Search) else None,
                    place.stored if place is not None and item.judged else None,
                    seconds if searched is not None else 0.0,
                    words,
                )
            )
        return out

    def _places(self, tenant: str) -> dict[str, _Place]:
        """The tenant's collections, by its own names."""
        c = collections.c
        with self._pipeline.store.read() as connection:
            rows = connection.execute(
                select(c.name, c.label, c.current_generation_id).where(c.tenant == tenant).order_by(c.name)
            ).all()
        return {label or name: _Place(label or name, name, current is not None) for name, label, current in rows}

    def _search(
        self, items: Sequence[Preparation], places: Sequence[_Place | Exception | None]
    ) -> tuple[list[Search | Exception | None], list[Found | Exception]]:
        searches: list[Search | Exception | None] = [None] * len(items)
        found: list[Found | Exception] = [()] * len(items)
        groups: dict[tuple[object, ...], list[int]] = {}
        for index, (item, place) in enumerate(zip(items, places, strict=True)):
            if isinstance(place, _Place) and item.request.retrieval:
                request = item.request
                groups.setdefault((place.stored, request.k, request.mode, request.fusion), []).append(index)
        for (stored, *_), members in groups.items():
            first = items[members[0]].request
            search = _attempt(self._pipeline.search, str(stored), first.mode, first.fusion)
            hits: tuple[Found, ...] | Exception = search if isinstance(search, Exception) else ()
            if not isinstance(search, Exception):
                questions = [items[index].request.question for index in members]
                hits = _attempt(search.retrieve_many, questions, first.k)
            for place_in_group, index in enumerate(members):
                searches[index] = search
                found[index] = hits if isinstance(hits, Exception) else hits[place_in_group]
        return searches, found

    def _standing(
        self,
        places: Sequence[_Place | Exception | None],
        searches: Sequence[Search | Exception | None],
        found: Sequence[Found | Exception],
    ) -> list[Mapping[str, str] | Exception]:
        """Of each item, where its chunks stand: one look for all that searched one collection."""
        chunks: dict[tuple[str, Retriever], dict[str, Chunk]] = {}
        keys: list[tuple[str, Retriever] | None] = []
        for place, search, hits in zip(places, searches, found, strict=True):
            if not isinstance(place, _Place) or not isinstance(search, Search) or isinstance(hits, Exception):
                keys.append(None)
                continue
            key = (place.stored, search.retriever)
            keys.append(key)
            chunks.setdefault(key, {}).update((hit.chunk.id, hit.chunk) for hit in hits)
        known = {
            (stored, retriever): _attempt(
                self._placing.places, self._pipeline.store, stored, retriever, tuple(wanted.values())
            )
            for (stored, retriever), wanted in chunks.items()
        }
        return [{} if key is None else known[key] for key in keys]


def _attempt(work: Callable[Given, Made], *arguments: Given.args, **named: Given.kwargs) -> Made | Exception:
    """What it makes, or the error, which is one request's own and must not fail those beside it."""
    try:
        return work(*arguments, **named)
    except Exception as error:
        return error


def _place(item: Preparation, known: dict[str, _Place]) -> _Place | None:
    """Where to search or judge; None where neither is asked for. Raises ApiError 404, 422 or 503."""
    request = item.request
    name = request.collection
    needed = request.retrieval or item.judged
    if name is None and not needed:
        return None
    if name is None and len(known) == 1:
        name = next(iter(known))
    if name is None and known:
        raise ApiError(422, f"name a collection: {', '.join(known)}", code="invalid_value", param="collection")
    if name is None or name not in known:
        what = "there is no collection yet" if name is None else f"there is no collection {name!r}"
        names = f"; the known ones are {', '.join(known)}" if known else ""
        raise ApiError(404, what + names, code="collection_not_found", param="collection")
    if needed and not known[name].published:
        raise ApiError(
            503,
            f"the collection {name!r} has no published index: its indexing did not end",
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
