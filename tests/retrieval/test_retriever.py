from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select, update

from data.documents import Document
from data.schema import collections, documents
from data.store import Store
from retrieval.chunking.chunker import searchable_text
from retrieval.collections import check_collection, delete_collection, list_collections, open_retriever
from retrieval.errors import RetrievalError
from retrieval.generations.collection_folder import generations_folder
from retrieval.generations.index_params import IndexParams
from retrieval.indexing.indexer import index_documents
from retrieval.retriever import Fusion, Mode, Retriever
from retrieval.sparse.bm25 import Bm25Params
from retrieval.vectors.dense import build_flat, load_flat

Documents = Callable[[int], tuple[Document, ...]]


@pytest.fixture
def retriever(store: Store, home: Path, encoder: Any, make_documents: Documents) -> Retriever:
    index_documents(store, home, "things", make_documents(30), encoder)
    return open_retriever(store, home, "things", encoder)


@pytest.mark.parametrize("mode", ["hybrid", "dense", "bm25"])
@pytest.mark.parametrize("fusion", ["minmax", "rrf"])
def test_an_exact_sentence_finds_its_document(retriever: Retriever, mode: Mode, fusion: Fusion) -> None:
    for i in (0, 7, 29):
        text = searchable_text(next(c for c in retriever.chunks if c.document_id == f"doc-{i:03d}"))
        hits = retriever.retrieve(text, 5, mode, fusion)
        assert hits[0].chunk.document_id == f"doc-{i:03d}"
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert all((hit.dense_rank is None) == (hit.dense_score is None) for hit in hits)
        assert (hits[0].dense_rank is None) == (mode == "bm25")
        assert (hits[0].sparse_rank is None) == (mode == "dense")


def test_many_equals_one_by_one(retriever: Retriever) -> None:
    queries = ["town3 machine", "slot s2", "zzz unknown"]
    assert retriever.retrieve_many(queries, 7) == tuple(retriever.retrieve(query, 7) for query in queries)
    assert retriever.retrieve_many((), 7) == ()


def test_words_that_are_nowhere_find_nothing_by_words_and_k_may_exceed_the_collection(retriever: Retriever) -> None:
    assert retriever.retrieve("zzz", 5, "bm25") == ()
    assert len(retriever.retrieve("zzz", 1000, "dense")) == retriever.size


def test_depth_limits_what_each_retriever_puts_forward(retriever: Retriever) -> None:
    hits = retriever.retrieve("machine", 3, depth=3)
    assert all((hit.dense_rank or 0) <= 3 and (hit.sparse_rank or 0) <= 3 for hit in hits)


@pytest.mark.parametrize(
    ("query", "k", "options", "says"),
    [
        ("", 5, {}, "empty"),
        (" \n", 5, {}, "empty"),
        ("a \ud800", 5, {}, "surrogate"),
        ("a", 0, {}, "k must"),
        ("a", 5, {"mode": "magic"}, "mode"),
        ("a", 5, {"fusion": "magic"}, "fusion"),
        ("a", 5, {"depth": 0}, "depth"),
        ("a", 5, {"dense_weight": 2.0}, "dense_weight"),
    ],
)
def test_bad_queries_are_refused(retriever: Retriever, query: str, k: int, options: dict[str, Any], says: str) -> None:
    with pytest.raises(RetrievalError, match=says):
        retriever.retrieve(query, k, **options)


def test_opening_says_which_collections_there_are(store: Store, home: Path, encoder: Any, retriever: Retriever) -> None:
    with pytest.raises(RetrievalError, match=r"'thing'.*things"):
        open_retriever(store, home, "thing", encoder)
    with pytest.raises(RetrievalError, match="things"):
        delete_collection(store, home, "thing")
    with pytest.raises(RetrievalError, match="things"):
        check_collection(store, home, "thing")


def test_another_encoder_is_refused(store: Store, home: Path, make_encoder: Any, retriever: Retriever) -> None:
    with pytest.raises(RetrievalError, match="encoder"):
        open_retriever(store, home, "things", make_encoder(salt="other"))


@pytest.mark.parametrize("backend", ["bm25s", "rank-bm25"])
def test_every_damaged_or_missing_file_is_named_and_a_run_repairs_it(
    store: Store, home: Path, encoder: Any, make_documents: Documents, backend: Any
) -> None:
    params = Bm25Params("okapi" if backend == "rank-bm25" else "lucene", backend=backend)
    report = index_documents(
        store, home, "c", make_documents(8), encoder, params=IndexParams.for_new_index(bm25=params)
    )
    folder = generations_folder(home, "c") / report.generation_hash
    for name in sorted(path.name for path in folder.iterdir()):
        path = folder / name
        full = path.read_bytes()
        flipped = bytearray(full)
        flipped[len(full) // 2] ^= 1
        for damaged in (bytes(flipped), full[:-1], full + b"x", b"", None):
            if damaged is None:
                path.unlink()
            else:
                path.write_bytes(damaged)
            with pytest.raises(RetrievalError, match=rf"{name}.*(?i:index) the same sources"):
                open_retriever(store, home, "c", encoder)
            assert name in check_collection(store, home, "c").problems[0]
            path.write_bytes(full)
    assert check_collection(store, home, "c").problems == ()
    (folder / "vectors.faiss").unlink()
    encoder.encoded.clear()
    repaired = index_documents(
        store, home, "c", make_documents(8), encoder, params=IndexParams.for_new_index(bm25=params)
    )
    assert (repaired.generation_hash, repaired.rebuilt, encoder.encoded) == (report.generation_hash, True, [])
    assert check_collection(store, home, "c").problems == ()


def test_a_changed_text_in_the_database_is_refused(
    store: Store, home: Path, encoder: Any, retriever: Retriever
) -> None:
    with store.write() as connection:
        connection.execute(update(documents).where(documents.c.document_id == "doc-003").values(text="forged " * 60))
    with pytest.raises(RetrievalError, match="'doc-003' of 'things'"):
        open_retriever(store, home, "things", encoder)


def test_listing_and_deleting(store: Store, home: Path, encoder: Any, retriever: Retriever) -> None:
    index_documents(store, home, "other", [Document("a", "", "text")], encoder)
    other, things = list_collections(store)
    assert (other.name, other.documents, other.chunks) == ("other", 1, 1)
    assert (things.generation_hash, things.encoder) == (retriever.generation_hash, encoder.fingerprint)
    delete_collection(store, home, "things")
    assert [info.name for info in list_collections(store)] == ["other"]
    assert not generations_folder(home, "things").exists()
    assert not retriever.is_current()
    with store.read() as connection:
        assert connection.execute(select(func.count()).select_from(documents)).scalar_one() == 1
        assert connection.execute(select(func.count()).select_from(collections)).scalar_one() == 1


def test_flat_search_equals_the_products_and_breaks_ties_by_position(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    stored = rng.normal(size=(50, 8)).astype(np.float32)
    stored[10:14] = stored[10]
    index = build_flat(stored)
    index.save(tmp_path / "v.faiss")
    loaded = load_flat(tmp_path / "v.faiss", (tmp_path / "v.faiss").stat().st_size)
    for hits, query in zip(loaded.search(stored[:12], 50), stored[:12], strict=True):
        scores = stored @ query
        assert [h.score for h in hits] == pytest.approx(sorted(scores, reverse=True), abs=1e-5)
        same = [h.position for h in hits if h.position in range(10, 14)]
        assert same == [10, 11, 12, 13]
    np.testing.assert_array_equal(loaded.vectors(np.asarray([3, 1])), stored[[3, 1]])


def test_flat_search_refuses_other_dimensions_and_nan(tmp_path: Path) -> None:
    index = build_flat(np.eye(3, dtype=np.float32))
    with pytest.raises(RetrievalError, match="3 dimensions"):
        index.search(np.zeros((1, 4), dtype=np.float32), 1)
    with pytest.raises(RetrievalError, match="not a number"):
        index.search(np.full((1, 3), np.nan, dtype=np.float32), 1)
    (tmp_path / "no.faiss").write_bytes(b"nothing")
    with pytest.raises(RetrievalError, match="FAISS"):
        load_flat(tmp_path / "no.faiss", 7)
