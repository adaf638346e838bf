"""Filters of a query: their syntax, the chunks that pass, and that the search returns no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from data.documents import Document
from data.store import Store
from retrieval.chunking.chunks import Chunk
from retrieval.collections import open_retriever
from retrieval.errors import RetrievalError
from retrieval.indexing.indexer import index_documents
from retrieval.ranking.filtering import DocumentFilters, Filter, parse_filter
from retrieval.retrieval_params import RetrievalParams
from retrieval.retriever import Retriever

METADATA = {
    "a": (("lang", "en"), ("year", "2019")),
    "b": (("lang", "de"), ("tag", "x"), ("tag", "y"), ("year", "900")),
    "c": (),
}
CHUNKS = tuple(Chunk(d, 3 * i, 3 * i + 3, "abc", f"Title {d}") for d in "abc" for i in range(2))


@pytest.mark.parametrize(
    ("text", "passing"),
    [
        ("lang=en", "a"),
        ("lang = en|de", "ab"),
        ("lang!=en", "bc"),
        ("tag=y", "b"),
        ("tag!=y", "ac"),
        ("year>=1000", "a"),
        ("year<1000", "b"),
        ("document=c", "c"),
        ("title=Title a|Title c", "ac"),
        ("document>a", "bc"),
        ("lang=fr", ""),
    ],
)
def test_what_passes(text: str, passing: str) -> None:
    allowed = DocumentFilters(CHUNKS, METADATA).allowed((parse_filter(text),))
    assert "".join(c.document_id for c, ok in zip(CHUNKS, allowed, strict=True) if ok) == "".join(
        d * 2 for d in passing
    )


def test_all_filters_must_hold_and_unknown_keys_are_named() -> None:
    filters = DocumentFilters(CHUNKS, METADATA)
    assert not filters.allowed((parse_filter("lang=en"), parse_filter("tag=x"))).any()
    assert filters.keys == ("document", "lang", "tag", "title", "year")
    with pytest.raises(RetrievalError, match=r"'colour'.*document, lang, tag, title, year"):
        filters.allowed((parse_filter("colour=red"),))
    assert filters.described(parse_filter("lang=fr")) == "lang=fr (lang is 'de', 'en')"
    assert DocumentFilters((), {}).allowed((parse_filter("document=a"),)).shape == (0,)


@pytest.mark.parametrize("text", ["", "lang", "=en", "  = x", "!x"])
def test_what_is_no_filter_is_refused(text: str) -> None:
    with pytest.raises(RetrievalError, match="key=value"):
        parse_filter(text)


def test_bad_values_are_refused() -> None:
    for bad in ({"operator": "~"}, {"values": ()}, {"key": " "}, {"operator": "<", "values": ("1", "2")}):
        with pytest.raises(ValueError, match="filter"):
            Filter(**{"key": "a", "operator": "=", "values": ("x",), **bad})  # type: ignore[arg-type]


@pytest.fixture
def retriever(store: Store, home: Path, encoder: Any) -> Retriever:
    documents = [
        Document(f"d{i:02d}", f"Note {i}", f"pump {i} runs. " * 3, (("parity", "even" if i % 2 == 0 else "odd"),))
        for i in range(40)
    ]
    index_documents(store, home, "c", documents, encoder)
    opened = open_retriever(store, home, "c", encoder)
    generation = opened._generation
    by_id = {d.id: d.metadata for d in documents}
    return Retriever(generation, opened.chunks, encoder, opened.is_current, by_id)


@pytest.mark.parametrize("mode", ["hybrid", "dense", "bm25"])
def test_a_filtered_search_finds_the_best_of_what_passes(retriever: Retriever, mode: Any) -> None:
    every = retriever.fused_many(("pump 7 runs",), 40, RetrievalParams(mode=mode))[0]
    odd = retriever.fused_many(("pump 7 runs",), 5, RetrievalParams(mode=mode, filters=(parse_filter("parity=odd"),)))[
        0
    ]
    assert len(odd) == 5
    assert all(int(item.chunk.document_id[1:]) % 2 == 1 for item in odd)
    if mode != "hybrid":  # hybrid scores are normalised over the chunks that pass
        expected = [item.chunk.id for item in every if int(item.chunk.document_id[1:]) % 2 == 1][:5]
        assert [item.chunk.id for item in odd] == expected
    assert retriever.fused_many(("pump",), 5, RetrievalParams(mode=mode, filters=(parse_filter("parity=none"),))) == (
        (),
    )


def test_metadata_is_there_when_a_collection_is_opened(store: Store, home: Path, encoder: Any) -> None:
    index_documents(
        store, home, "m", [Document("a", "", "some text", (("lang", "en"),)), Document("b", "", "t")], encoder
    )
    opened = open_retriever(store, home, "m", encoder)
    found = opened.fused_many(("text",), 5, RetrievalParams(filters=(parse_filter("lang=en"),)))[0]
    assert [item.chunk.document_id for item in found] == ["a"]
