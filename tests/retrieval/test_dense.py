"""Flat, HNSW and quantised indexes compared with products in numpy; filters, invalid queries and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest

from retrieval.errors import RetrievalError
from retrieval.vectors.building import _add_to_lists, _empty_index
from retrieval.vectors.dense import DenseParams, build_dense, build_flat, load_dense, load_flat, resolved_kind
from retrieval.vectors.params import BuiltKind, list_count
from retrieval.vectors.recall import exact_neighbours, measure_recall, sampled_positions, without_query

KINDS = [("flat", "none"), ("flat", "int8"), ("hnsw", "none"), ("hnsw", "int8"), ("ivf", "none"), ("ivf", "int8")]


def unit(rows: int, dimension: int, seed: int = 0) -> Any:
    made = np.random.default_rng(seed).normal(size=(rows, dimension)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def small(kind: Any, quantisation: Any) -> DenseParams:
    return DenseParams(kind=kind, quantisation=quantisation, links=8, build_depth=40)


@pytest.mark.parametrize(("kind", "quantisation"), KINDS)
def test_every_kind_finds_nearly_what_exact_search_finds_and_says_how_nearly(kind: str, quantisation: str) -> None:
    stored = unit(600, 24)
    built = build_dense(stored, small(kind, quantisation))
    assert built.kind == (kind if quantisation == "none" else f"{kind}-int8")
    queries = unit(40, 24, seed=9)
    shares = []
    for hits, query in zip(built.index.search(queries, 10), queries, strict=True):
        best = set(np.argsort(-(stored @ query))[:10].tolist())
        shares.append(len(best & {hit.position for hit in hits}) / 10)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        np.testing.assert_allclose([h.score for h in hits], stored[[h.position for h in hits]] @ query, atol=0.02)
    if built.kind == "flat":
        assert (built.recall, min(shares)) == (None, 1.0)
        return
    assert built.recall is not None
    assert np.mean(shares) > 0.85
    assert built.recall.lower <= built.recall.recall <= 1.0
    assert built.recall.recall == pytest.approx(float(np.mean(shares)), abs=0.12)


@pytest.mark.parametrize(("kind", "quantisation"), KINDS)
def test_filters_are_exact_for_few_and_never_let_another_through(kind: str, quantisation: str, tmp_path: Path) -> None:
    stored = unit(600, 24)
    index = build_dense(stored, small(kind, quantisation)).index
    queries = unit(20, 24, seed=3)
    for share in (0.005, 0.3):
        allowed = np.random.default_rng(1).random(600) < share
        places = np.flatnonzero(allowed)
        expected_scores = queries @ index.vectors(places).T
        for hits, scores in zip(index.search(queries, 5, allowed), expected_scores, strict=True):
            assert [hit.position for hit in hits] == places[np.argsort(-scores, kind="stable")[:5]].tolist()
    assert index.search(queries[:2], 5, np.zeros(600, dtype=bool)) == ((), ())


@pytest.mark.parametrize("kind", ["hnsw", "ivf"])
def test_among_many_allowed_vectors_only_those_are_found(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr("retrieval.vectors.faiss_index._EXACT_COUNT", 10)
    stored = unit(600, 24)
    index = build_dense(stored, small(kind, "none")).index
    allowed = np.arange(600) % 2 == 1
    for hits in index.search(unit(20, 24, seed=3), 8, allowed):
        assert len(hits) == 8
        assert all(hit.position % 2 == 1 for hit in hits)


@pytest.mark.parametrize(("kind", "quantisation"), KINDS)
def test_many_at_once_equal_one_by_one_bit_for_bit_and_equal_vectors_tie(kind: str, quantisation: str) -> None:
    stored = unit(300, 24)
    stored[100:140] = stored[100]
    index = build_dense(stored, small(kind, quantisation)).index
    queries = np.concatenate([unit(40, 24, seed=5), stored[100:101]])
    assert index.search(queries, 12) == tuple(index.search(query[None], 12)[0] for query in queries)
    tied = [hit for hit in index.search(stored[100:101], 30)[0] if 100 <= hit.position < 140]
    assert len({hit.score for hit in tied}) == 1
    assert [hit.position for hit in tied] == sorted(hit.position for hit in tied)


@pytest.mark.parametrize(("kind", "quantisation"), KINDS)
def test_the_same_vectors_give_the_same_bytes_and_a_file_answers_alike(
    kind: str, quantisation: str, tmp_path: Path
) -> None:
    stored = unit(300, 16)
    mapped = np.lib.format.open_memmap(tmp_path / "v.npy", mode="w+", dtype=np.float32, shape=stored.shape)
    mapped[:] = stored
    one, other = (build_dense(v, small(kind, quantisation)) for v in (stored, mapped))
    one.index.save(tmp_path / "one")
    other.index.save(tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    loaded = load_dense(tmp_path / "one", (tmp_path / "one").stat().st_size)
    assert loaded.search_depth == one.index.search_depth
    queries = unit(5, 16, seed=2)
    assert loaded.search(queries, 7) == one.index.search(queries, 7)
    np.testing.assert_array_equal(loaded.vectors(np.asarray([3, 1])), one.index.vectors(np.asarray([3, 1])))


@pytest.mark.parametrize("kind", ["ivf", "ivf-int8"])
def test_lists_are_filled_as_faiss_itself_fills_them(kind: BuiltKind) -> None:
    stored = unit(9_000, 16)  # three blocks
    params = DenseParams(kind="ivf")
    ours, theirs = (_empty_index(16, len(stored), kind, params) for _ in range(2))
    for index in (ours, theirs):
        index.train(stored[:5_000])
    reports: list[tuple[int, int]] = []
    _add_to_lists(ours, stored, lambda done, total: reports.append((done, total)))
    theirs.add(stored)
    theirs.make_direct_map()
    np.testing.assert_array_equal(faiss.serialize_index(ours), faiss.serialize_index(theirs))
    assert reports == [(4096, 9000), (8192, 9000), (9000, 9000)]


def test_the_size_decides_and_can_be_overridden() -> None:
    assert resolved_kind(DenseParams(), 100_000) == "flat"
    assert resolved_kind(DenseParams(), 100_001) == "hnsw"
    assert resolved_kind(DenseParams(kind="flat", quantisation="int8"), 10**6) == "flat-int8"
    assert resolved_kind(DenseParams(quantisation="int8"), 10**6) == "hnsw-int8"
    assert [resolved_kind(DenseParams(kind="ivf"), count) for count in (0, 10**6)] == ["ivf", "ivf"]
    assert [list_count(count) for count in (0, 79, 80, 600, 100_000, 10**6)] == [1, 1, 2, 8, 1024, 2048]
    assert build_dense(unit(30, 8), DenseParams(flat_up_to=20, links=4)).kind == "hnsw"


def test_depth_grows_until_the_recall_is_reached_or_stays_as_given() -> None:
    stored = unit(1500, 32)
    searched = build_dense(stored, DenseParams(kind="hnsw", links=4, build_depth=16, target_recall=0.9))
    fixed = build_dense(stored, DenseParams(kind="hnsw", links=4, build_depth=16, search_depth=11))
    assert searched.recall is not None and fixed.recall is not None
    assert searched.recall.recall >= 0.9
    assert searched.recall.search_depth == searched.index.search_depth
    assert (searched.recall.search_depth or 0) > 32
    assert fixed.recall.search_depth == fixed.index.search_depth == 11
    assert fixed.recall.recall < searched.recall.recall


def test_lists_that_are_looked_into_and_hold_too_few_are_not_the_end() -> None:
    stored = unit(4_000, 16)
    index = build_dense(stored, DenseParams(kind="ivf", search_depth=1)).index
    assert index.search_depth == 1
    query = unit(3, 16, seed=2)
    for k in (1_000, 4_000):
        assert [len(hits) for hits in index.search(query, k)] == [k] * 3
    best = np.argsort(-(query[0] @ stored.T))[:1_000]
    assert {hit.position for hit in index.search(query[:1], 1_000)[0]} == set(best.tolist())


def test_recall_by_hand() -> None:
    assert without_query(np.asarray([[4, 1, 2], [3, 5, 6]]), np.asarray([4, 9]), 2).tolist() == [[1, 2], [3, 5]]
    measured = measure_recall(np.asarray([[1, 2], [3, -1]]), np.asarray([[2, 1], [3, 5]]), 2, None)
    assert (measured.recall, measured.queries) == (0.75, 2)
    stored = unit(50, 8)
    own = sampled_positions(50, 7)
    for row, place in zip(exact_neighbours(stored, own, 5, block=8), own, strict=True):
        order = np.argsort(-(stored @ stored[place]))
        assert set(row.tolist()) == set(order[order != place][:5].tolist())


def test_k_beyond_the_corpus_one_vector_and_none() -> None:
    index = build_flat(unit(3, 4))
    assert len(index.search(unit(1, 4), 10)[0]) == 3
    assert index.search(np.zeros((0, 4), dtype=np.float32), 10) == ()
    for kind in ("flat", "hnsw", "ivf"):
        one = build_dense(unit(1, 4), DenseParams(kind=kind))  # type: ignore[arg-type]
        assert one.recall is None
        assert [hit.position for hit in one.index.search(unit(1, 4), 5)[0]] == [0]
        assert build_dense(np.zeros((0, 4), dtype=np.float32), DenseParams(kind=kind)).index.search(  # type: ignore[arg-type]
            unit(2, 4), 5
        ) == ((), ())


def test_bad_queries_vectors_masks_and_files_are_refused(tmp_path: Path) -> None:
    index = build_flat(unit(5, 4))
    with pytest.raises(RetrievalError, match="4 dimensions"):
        index.search(np.zeros((1, 3), dtype=np.float32), 1)
    with pytest.raises(RetrievalError, match="not a number"):
        index.search(np.full((1, 4), np.nan, dtype=np.float32), 1)
    with pytest.raises(RetrievalError, match=r"filter.*2"):
        index.search(unit(1, 4), 1, np.ones(2, dtype=bool))
    bad = unit(5, 4)
    bad[3, 2] = np.inf
    (tmp_path / "no.faiss").write_bytes(b"nothing")
    with pytest.raises(RetrievalError, match="FAISS"):
        load_dense(tmp_path / "no.faiss", 7)
    for kind in ("hnsw", "ivf"):
        build_dense(unit(30, 8), small(kind, "none")).index.save(tmp_path / kind)
        with pytest.raises(RetrievalError, match="HNSW"):
            load_flat(tmp_path / kind, (tmp_path / kind).stat().st_size)
        with pytest.raises(RetrievalError, match="vector 3 of 5"):
            build_dense(bad, DenseParams(kind=kind))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "bad",
    [
        {"kind": "lsh"},
        {"quantisation": "int4"},
        {"flat_up_to": -1},
        {"links": 1},
        {"search_depth": 0},
        {"target_recall": 0},
    ],
)
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=str(next(iter(bad.values())))):
        DenseParams(**bad)
