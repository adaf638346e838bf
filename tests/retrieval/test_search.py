"""The optional steps of the retrieval pipeline with a real index: separately, combined, and in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data.documents import Document
from data.store import Store
from model.pairs.scoring import Pair
from retrieval.chunking.chunker import searchable_text
from retrieval.collections import open_retriever
from retrieval.errors import RetrievalError
from retrieval.indexing.indexer import index_documents
from retrieval.ranking.diversity import MmrParams
from retrieval.ranking.filtering import parse_filter
from retrieval.ranking.reranking import RerankParams
from retrieval.reformulation.hops import HopBudget, by_best_title
from retrieval.reformulation.rm3 import Rm3Params
from retrieval.retrieval_params import RetrievalParams
from retrieval.retriever import Retriever
from retrieval.search import Search, SearchComponents

QUERIES = ("town3 machine", "slot s2 crowns", "kilograms of m5x", "zzz unknown", "the of and", "?!")


class Longest:
    """A scorer that prefers long evidence."""

    name = "longest"

    def room(self, claim: str, question: str = "") -> int:
        return 100

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(text) for text in texts]

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        return tuple(len(pair.evidence) / 10_000 for pair in pairs)


@pytest.fixture
def retriever(
    store: Store, home: Path, encoder: Any, make_documents: Callable[[int], tuple[Document, ...]]
) -> Retriever:
    documents = (*make_documents(30), Document("copy", "Article 3", make_documents(30)[3].text))
    index_documents(store, home, "things", documents, encoder)
    return open_retriever(store, home, "things", encoder)


PARAMS = {
    "default": RetrievalParams(),
    "zscore": RetrievalParams(fusion="zscore", dense_weight=0.3),
    "weighted rrf": RetrievalParams(fusion="rrf", dense_weight=0.8, rrf_constant=10),
    "filter": RetrievalParams(filters=(parse_filter("document>doc-010"),)),
    "rm3": RetrievalParams(rm3=Rm3Params()),
    "rerank": RetrievalParams(rerank=RerankParams(5)),
    "mmr": RetrievalParams(mmr=MmrParams(0.3)),
    "deduplicate": RetrievalParams(deduplicate=0.9),
    "neighbours": RetrievalParams(neighbours=1),
    "all": RetrievalParams(
        rm3=Rm3Params(), rerank=RerankParams(20), deduplicate=0.9, mmr=MmrParams(0.5), neighbours=2, depth=30
    ),
}


@pytest.mark.parametrize("name", list(PARAMS))
def test_many_equal_one_by_one_and_ranks_are_in_order(retriever: Retriever, name: str) -> None:
    search = Search(retriever, PARAMS[name], SearchComponents(scorer=Longest()))
    many = search.retrieve_many(QUERIES * 5, 6)
    assert many == tuple(search.retrieve(query, 6) for query in QUERIES * 5)
    for found in many:
        assert [item.rank for item in found] == list(range(1, len(found) + 1))
        assert len({item.chunk.id for item in found}) == len(found)
        assert PARAMS[name].neighbours or len(found) <= 6
    assert search.retrieve_many((), 3) == ()


def test_without_options_it_is_the_retriever(retriever: Retriever) -> None:
    assert Search(retriever).retrieve_many(QUERIES, 7) == retriever.retrieve_many(QUERIES, 7)
    assert Search(retriever).settings == "mode=hybrid fusion=minmax"
    everything = Search(retriever, PARAMS["all"], SearchComponents(scorer=Longest(), ask_again=by_best_title)).settings
    for part in ("rm3=", "rerank=", "mmr=", "neighbours=2", "scorer=longest", "ask_again=by_best_title hops=2"):
        assert part in everything


def test_each_option_does_what_it_says(retriever: Retriever) -> None:
    def found(params: RetrievalParams, helpers: SearchComponents | None = None, k: int = 6) -> list[str]:
        return [item.chunk.document_id for item in Search(retriever, params, helpers).retrieve("m3x machine", k)]

    plain = RetrievalParams()
    assert {"doc-003", "copy"} <= set(found(plain))
    assert len({"doc-003", "copy"} & set(found(replace(plain, deduplicate=0.9)))) == 1
    longest = max(len(searchable_text(chunk)) for chunk in retriever.chunks)
    first = Search(retriever, replace(plain, rerank=RerankParams(100)), SearchComponents(scorer=Longest())).retrieve(
        "m3x", 6
    )[0]
    assert len(searchable_text(first.chunk)) == longest
    assert all(name > "doc-010" for name in found(replace(plain, filters=(parse_filter("document>doc-010"),))))
    assert len(found(plain, k=10_000)) == retriever.size
    vectors = retriever.vectors([item.chunk for item in Search(retriever, plain).retrieve("m3x machine", 6)])
    diverse = retriever.vectors(
        [i.chunk for i in Search(retriever, replace(plain, mmr=MmrParams(0.1))).retrieve("m3x machine", 6)]
    )
    assert (diverse @ diverse.T).sum() < (vectors @ vectors.T).sum()


def test_neighbours_come_from_the_same_document(retriever: Retriever) -> None:
    one = Search(retriever, RetrievalParams(neighbours=1)).retrieve("m4x", 1)
    places = sorted(retriever.position(item.chunk) for item in one)
    assert len({item.chunk.document_id for item in one}) == 1
    assert places == list(range(places[0], places[-1] + 1))


def test_rewrites_imagined_passages_and_hops(retriever: Retriever) -> None:
    wanted = retriever.retrieve("town6 machine", 3)[0].chunk.id
    rewritten = Search(retriever, helpers=SearchComponents(rewrite=lambda _: ("town6 machine", " ", "town6 machine")))
    assert wanted in [item.chunk.id for item in rewritten.retrieve("zzz", 6)]
    imagined = Search(
        retriever, RetrievalParams(mode="dense"), SearchComponents(imagine=lambda _: ("town6 machine",) * 9)
    )
    assert imagined.retrieve("zzz", 3)[0].chunk.id == retriever.retrieve("town6 machine zzz", 3, "dense")[0].chunk.id
    nothing = SearchComponents(rewrite=lambda _: (), imagine=lambda _: ("",), ask_again=lambda *_: None)
    np.testing.assert_allclose(
        [item.score for item in Search(retriever, helpers=nothing).retrieve("town6 machine", 5)],
        [item.score for item in retriever.retrieve("town6 machine", 5)],
        rtol=1e-5,
    )
    queries: list[str] = []
    hops = SearchComponents(ask_again=lambda q, _: queries.append(q) or f"{q} town6", budget=HopBudget(3))  # type: ignore[func-returns-value]
    assert len(Search(retriever, helpers=hops).retrieve("machine", 4)) == 4
    assert queries == ["machine", "machine"]


def test_bad_queries_and_missing_helpers_are_refused(retriever: Retriever) -> None:
    with pytest.raises(RetrievalError, match="cross-encoder"):
        Search(retriever, RetrievalParams(rerank=RerankParams()))
    with pytest.raises(RetrievalError, match="empty"):
        Search(retriever).retrieve_many(("a", " "), 3)
    with pytest.raises(RetrievalError, match="k must"):
        Search(retriever, PARAMS["mmr"]).retrieve("a", 0)
    with pytest.raises(RetrievalError, match="metadata 'x'"):
        Search(retriever, RetrievalParams(filters=(parse_filter("x=1"),))).retrieve("a", 3)
    with pytest.raises(RetrievalError, match="index"):
        retriever.position(replace(retriever.chunks[0], start=1, text=retriever.chunks[0].text[1:]))


def test_long_stopped_and_punctuated_queries_are_answered(retriever: Retriever) -> None:
    for query in ("machine " * 12_500, "x" * 100_000, "the of", "?!" * 50):
        assert len(Search(retriever).retrieve(query, 3)) == 3
    assert Search(retriever, RetrievalParams(mode="bm25", rm3=Rm3Params())).retrieve("the of", 3) == ()


def test_vectors_of_a_wrong_width_or_nan_are_refused(retriever: Retriever) -> None:
    with pytest.raises(RetrievalError, match="dimensions"):
        retriever.fused_many(("a",), 3, RetrievalParams(), np.zeros((1, 3), dtype=np.float32))
    with pytest.raises(RetrievalError, match="not a number"):
        retriever.fused_many(("a",), 3, RetrievalParams(), np.full((1, 256), np.nan, dtype=np.float32))


@pytest.mark.parametrize(
    "bad", [{"deduplicate": 0.0}, {"neighbours": -1}, {"fusion": "borda"}, {"rrf_constant": float("nan")}]
)
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        RetrievalParams(**bad)
