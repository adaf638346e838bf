"""BM25L and BM25+ compared with rank-bm25, and properties of all weightings: masks, weights and files."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rank_bm25

from retrieval.sparse.bm25 import Bm25Params, build_bm25, load_bm25

REFERENCES: dict[str, Any] = {"okapi": rank_bm25.BM25Okapi, "bm25l": rank_bm25.BM25L, "bm25+": rank_bm25.BM25Plus}


def corpus(seed: int, chunks: int, vocabulary: int) -> list[list[str]]:
    rng = random.Random(seed)
    names = [f"w{i}" for i in range(vocabulary)]
    weights = [1 / (i + 1) for i in range(vocabulary)]
    return [rng.choices(names, weights, k=rng.choice([0, 3, 10, 60])) for _ in range(chunks)]


def queries(seed: int, vocabulary: int) -> list[list[str]]:
    rng = random.Random(seed)
    return [[f"w{rng.randrange(vocabulary + 2)}" for _ in range(rng.randrange(1, 6))] for _ in range(20)]


@pytest.mark.parametrize("weighting", list(REFERENCES))
@pytest.mark.parametrize(("seed", "chunks", "vocabulary"), [(0, 50, 30), (1, 300, 500), (2, 7, 5), (3, 40, 3)])
@pytest.mark.parametrize(("k1", "b", "shift"), [(1.5, 0.75, None), (0.9, 0.4, 0.3), (2.0, 0.0, 0.0)])
def test_scores_equal_rank_bm25(
    weighting: Any, seed: int, chunks: int, vocabulary: int, k1: float, b: float, shift: float | None
) -> None:
    texts = corpus(seed, chunks, vocabulary)
    index = build_bm25(texts, Bm25Params(weighting, k1=k1, b=b, delta=shift))
    options = {} if weighting == "okapi" or shift is None else {"delta": shift}
    reference = REFERENCES[weighting](texts, k1=k1, b=b, **options)
    for query in queries(seed, vocabulary):
        np.testing.assert_allclose(index.scores(query), reference.get_scores(query), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("weighting", ["lucene", "okapi", "bm25l", "bm25+"])
def test_masked_weighted_and_loaded_searches_agree_with_the_plain_one(weighting: Any, tmp_path: Path) -> None:
    texts = corpus(4, 120, 40)
    params = Bm25Params(weighting)
    index = build_bm25(texts, params)
    index.save(tmp_path)
    loaded = load_bm25(tmp_path, params)
    allowed = np.zeros(120, dtype=bool)
    allowed[::3] = True
    for query in queries(4, 40):
        plain = index.search(query, 120)
        assert loaded.search(query, 120) == plain
        assert index.search(query, 7, allowed) == tuple(hit for hit in plain if allowed[hit.position])[:7]
        weighted = index.search_weighted({word: 2.0 * query.count(word) for word in query}, 120)
        assert {hit.position for hit in weighted} == {hit.position for hit in plain}
        by_position = {hit.position: hit.score for hit in plain}
        for hit in weighted:
            assert hit.score == pytest.approx(2.0 * by_position[hit.position], rel=1e-5, abs=1e-9)
    assert index.search(["w0"], 5, np.zeros(120, dtype=bool)) == ()
    assert index.search_weighted({"w0": 0.0, "w1": -1.0, "nowhere": 3.0}, 5) == ()


@pytest.mark.parametrize("weighting", ["okapi", "bm25l", "bm25+"])
def test_the_reference_backend_serves_every_weighting_alike(weighting: Any) -> None:
    texts = corpus(6, 60, 30)
    served = build_bm25(texts, Bm25Params(weighting))
    reference = build_bm25(texts, Bm25Params(weighting, backend="rank-bm25"))
    allowed = np.arange(60) % 2 == 0
    for query in queries(6, 30):
        for one, other in (
            (served.search(query, 9, allowed), reference.search(query, 9, allowed)),
            (served.search_weighted({query[0]: 0.7}, 9), reference.search_weighted({query[0]: 0.7}, 9)),
        ):
            assert [hit.position for hit in one] == [hit.position for hit in other]
            np.testing.assert_allclose([h.score for h in one], [h.score for h in other], rtol=1e-9, atol=1e-12)


def test_tiny_corpora_score_zero_under_okapi_and_not_under_lucene() -> None:
    """Issue 43 of rank-bm25: with two documents, a word of one of them has idf ln(1.5 / 1.5) = 0."""
    texts = [["cat", "sat"], ["dog", "ran"]]
    okapi, lucene = (build_bm25(texts, Bm25Params(weighting)) for weighting in ("okapi", "lucene"))  # type: ignore[arg-type]
    assert okapi.scores(["cat"]).tolist() == [0, 0]
    assert [hit.position for hit in okapi.search(["cat"], 5)] == [0]
    assert lucene.scores(["cat"])[0] > 0


def test_common_words_never_lower_a_score_under_lucene() -> None:
    """Issue 26 of rank-bm25: if most words are in most chunks, okapi's floor is negative."""
    texts = [["the", "a", "x"], ["the", "a"], ["the", "a"], ["the", "a"]]
    okapi, lucene = (build_bm25(texts, Bm25Params(weighting)) for weighting in ("okapi", "lucene"))  # type: ignore[arg-type]
    assert okapi.scores(["the"]).min() < 0
    assert lucene.scores(["the"]).min() > 0


@pytest.mark.parametrize("bad", [{"delta": -0.1}, {"delta": float("nan")}, {"k1": float("nan")}, {"weighting": "plus"}])
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        Bm25Params(**bad)
