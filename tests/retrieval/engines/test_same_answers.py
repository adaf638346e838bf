"""Every engine gives the same generation hash, chunks, order and scores as local files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from data.documents import Document
from retrieval.errors import EngineError, RetrievalError
from retrieval.generations.index_params import IndexParams
from retrieval.ranking.diversity import MmrParams
from retrieval.ranking.filtering import parse_filter
from retrieval.reformulation.rm3 import Rm3Params
from retrieval.retrieval_params import RetrievalParams
from retrieval.search import Search
from retrieval.sparse.bm25 import Bm25Params
from retrieval.vectors.params import DenseParams
from tests.retrieval.engines.conftest import ENGINES, Bench

Documents = Callable[[int], tuple[Document, ...]]
QUERIES = ("machine m2x weighs", "slot s2 and part p4q1", "town3 town4", "built kilograms crowns", "zzz unknown")
on_each_engine = pytest.mark.parametrize("bench", ENGINES, indirect=True)


def tagged(documents: tuple[Document, ...]) -> list[Document]:
    """Return the documents with the metadata "third" (0, 1 or 2), and five copies of one, which tie."""
    made = [Document(d.id, d.title, d.text, (("third", str(i % 3)),)) for i, d in enumerate(documents)]
    return [*made, *(Document(f"copy-{i}", made[4].title, made[4].text) for i in range(5))]


@on_each_engine
@pytest.mark.parametrize("weighting", ["lucene", "okapi", "bm25l", "bm25+"])
def test_hash_and_answers_are_those_of_local_files(bench: Bench, make_documents: Documents, weighting: Any) -> None:
    given = tagged(make_documents(40))
    if bench.engine == "milvus" and weighting != "lucene":
        with pytest.raises(EngineError, match=weighting.replace("+", r"\+")):
            bench.index(given, params=IndexParams.for_new_index(bm25=Bm25Params(weighting)))
        return
    report = bench.index(given, params=IndexParams.for_new_index(bm25=Bm25Params(weighting)))
    expected = bench.local().index(given, "files", params=IndexParams.for_new_index(bm25=Bm25Params(weighting)))
    assert (report.generation_hash, report.chunks, report.index) == (expected.generation_hash, expected.chunks, "flat")
    assert report.vectors == bench.engine
    one, other = bench.open(), bench.open("files")
    assert one.size == other.size
    for mode in ("dense", "bm25", "hybrid"):
        for filters in ((), ("third=1",), ("third!=1", "document>doc-010"), ("third=none",)):
            for k, rm3 in ((1, None), (7, None), (1000, None), (7, Rm3Params())):
                params = RetrievalParams(mode, filters=tuple(map(parse_filter, filters)), rm3=rm3)
                assert one.fused_many(QUERIES, k, params) == other.fused_many(QUERIES, k, params), (mode, filters, k)
    chunks = one.chunks[3:9:2]
    np.testing.assert_array_equal(one.vectors(chunks), other.vectors(chunks))
    diverse = RetrievalParams(mmr=MmrParams(0.5))
    assert Search(one, diverse).retrieve(QUERIES[0], 5) == Search(other, diverse).retrieve(QUERIES[0], 5)


@on_each_engine
def test_many_at_once_equal_one_by_one_and_ties_keep_their_order(bench: Bench, make_documents: Documents) -> None:
    bench.index(tagged(make_documents(20)))
    opened = bench.open()
    assert opened.retrieve_many(QUERIES, 7) == tuple(opened.retrieve(query, 7) for query in QUERIES)
    copies = [
        hit for hit in opened.retrieve(make_documents(20)[4].text, 20) if hit.chunk.document_id.startswith("copy")
    ]
    assert len({hit.score for hit in copies}) == len({hit.chunk.start for hit in copies})
    for start in {hit.chunk.start for hit in copies}:
        ids = [hit.chunk.document_id for hit in copies if hit.chunk.start == start]
        assert ids == sorted(ids)


@on_each_engine
def test_a_graph_states_its_recall_and_filters_are_exact(
    bench: Bench, make_documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = DenseParams(kind="hnsw", links=8, build_depth=40)
    given = tagged(make_documents(120))
    report = bench.index(given, params=IndexParams.for_new_index(dense=graph))
    exact = bench.local().index(given, "files", params=IndexParams.for_new_index(dense=DenseParams(kind="flat")))
    assert report.index == "hnsw"
    assert report.recall is not None and report.recall > 0.9
    one, other = bench.open(), bench.open("files")
    found = [hit.chunk.id for query in QUERIES for hit in one.retrieve(query, 10, "dense")]
    nearest = [hit.chunk.id for query in QUERIES for hit in other.retrieve(query, 10, "dense")]
    assert len(set(found) & set(nearest)) / len(set(nearest)) > 0.9
    few = RetrievalParams("dense", filters=(parse_filter("third=2"),))
    assert one.fused_many(QUERIES, 10, few) == other.fused_many(QUERIES, 10, few)
    # Among many allowed chunks the graph is searched: it may miss some, and lets no other through.
    monkeypatch.setattr("retrieval.vectors.faiss_index._EXACT_COUNT", 10)
    monkeypatch.setattr("retrieval.engines.milvus_search._EXACT_SEARCH_LIMIT", 10)
    for hits in one.fused_many(QUERIES, 10, few):
        assert len(hits) == 10
        assert {int(hit.chunk.document_id[-3:]) % 3 for hit in hits} == {2}
    assert exact.chunks == report.chunks


@on_each_engine
def test_bad_query_vectors_are_refused(bench: Bench, make_documents: Documents) -> None:
    bench.index(make_documents(5))
    opened = bench.open()
    for vectors, reason in ((np.zeros((1, 3)), "256 dimensions"), (np.full((1, 256), np.nan), "not a number")):
        with pytest.raises(RetrievalError, match=reason):
            opened.fused_many(("a",), 3, RetrievalParams("dense"), vectors.astype(np.float32))


@on_each_engine
def test_a_collection_without_words_and_one_with_a_single_chunk_answer(bench: Bench) -> None:
    bench.index([Document("a", "", "?! ...")])
    assert [hit.chunk.document_id for hit in bench.open().retrieve("what", 3)] == ["a"]
    bench.index([Document("a", "", "lamp")], params=IndexParams.for_new_index(dense=DenseParams(kind="hnsw", links=4)))
    assert [hit.chunk.document_id for hit in bench.open().retrieve("lamp", 3)] == ["a"]
