from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest
import rank_bm25

from retrieval.errors import RetrievalError
from retrieval.sparse.bm25 import REFERENCE_BM25, Bm25Params, build_bm25, load_bm25
from retrieval.sparse.tokenising import TokenisingParams, tokenise


def corpus(seed: int, chunks: int, vocabulary: int) -> list[list[str]]:
    """Chunks of Zipf-like words. Some are empty, and the most common words are in most chunks (negative idf)."""
    rng = random.Random(seed)
    names = [f"w{i}" for i in range(vocabulary)]
    weights = [1 / (i + 1) for i in range(vocabulary)]
    return [rng.choices(names, weights, k=rng.choice([0, 3, 10, 60])) for _ in range(chunks)]


@pytest.mark.parametrize(("seed", "chunks", "vocabulary"), [(0, 50, 30), (1, 300, 500), (2, 7, 5), (3, 40, 3)])
@pytest.mark.parametrize("epsilon", [0.25, 0.0])
def test_okapi_scores_equal_rank_bm25(seed: int, chunks: int, vocabulary: int, epsilon: float) -> None:
    texts = corpus(seed, chunks, vocabulary)
    params = Bm25Params("okapi", k1=1.5, b=0.75, epsilon=epsilon)
    index = build_bm25(texts, params)
    reference = rank_bm25.BM25Okapi(texts, epsilon=epsilon)
    # The floor has an effect, because the most common word is in more than half of the chunks.
    assert sum("w0" in words for words in texts) > chunks / 2
    rng = random.Random(seed)
    for _ in range(20):
        query = [f"w{rng.randrange(vocabulary + 2)}" for _ in range(rng.randrange(1, 6))]
        np.testing.assert_allclose(index.scores(query), reference.get_scores(query), rtol=1e-6, atol=1e-12)


def test_both_backends_find_the_same_chunks_in_the_same_order(tmp_path: Path) -> None:
    texts = corpus(5, 80, 40)
    served = build_bm25(texts, REFERENCE_BM25)
    params = Bm25Params("okapi", 1.5, 0.75, backend="rank-bm25")
    reference = build_bm25(texts, params)
    reference.save(tmp_path)
    loaded = load_bm25(tmp_path, params)
    for query in (["w0"], ["w3", "w7", "w7"], ["w30", "none"]):
        hits = served.search(query, 15)
        for other in (reference.search(query, 15), loaded.search(query, 15)):
            assert [h.position for h in other] == [h.position for h in hits]
            np.testing.assert_allclose([h.score for h in other], [h.score for h in hits], rtol=1e-9)


def test_lucene_weights_by_hand() -> None:
    index = build_bm25([["a", "b"], ["a", "a", "c", "c"]], Bm25Params())
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert index.scores(["c"])[1] == pytest.approx(idf * 2 / (2 + 0.9 * (1 - 0.4 + 0.4 * 4 / 3)), rel=1e-6)
    assert index.scores(["c"])[0] == 0


def test_unknown_words_find_nothing_and_common_words_still_find() -> None:
    texts = [["a", "b"], ["a"], ["c"], []]
    for params in (Bm25Params(), REFERENCE_BM25, Bm25Params("okapi", backend="rank-bm25")):
        index = build_bm25(texts, params)
        assert index.search(["zzz"], 3) == ()
        assert index.search([], 3) == ()
        assert {hit.position for hit in index.search(["a"], 3)} == {0, 1}  # idf is 0 there under okapi
        assert index.search(["a"], 0) == ()


def test_ties_are_broken_by_position_at_the_cut_too() -> None:
    index = build_bm25([["x"]] * 20 + [["x", "x"]], Bm25Params())
    assert [h.position for h in index.search(["x"], 4)] == [20, 0, 1, 2]


@pytest.mark.parametrize("backend", ["bm25s", "rank-bm25"])
def test_a_corpus_without_words_finds_nothing(backend: str) -> None:
    params = Bm25Params("okapi", backend="rank-bm25") if backend == "rank-bm25" else Bm25Params()
    index = build_bm25([[], []], params)
    assert index.size == 2
    assert index.search(["a"], 5) == ()
    assert index.scores(["a"]).tolist() == [0, 0]


def test_what_is_saved_is_what_is_loaded_and_damage_is_named(tmp_path: Path) -> None:
    index = build_bm25(corpus(9, 30, 20), Bm25Params())
    index.save(tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} == {".npy", ".json"}
    loaded = load_bm25(tmp_path, Bm25Params())
    assert loaded.search(["w1", "w5"], 10) == index.search(["w1", "w5"], 10)
    (tmp_path / "bm25_words.json").write_text('{"size": 30, "words": ["one"]}')
    with pytest.raises(RetrievalError, match="inconsistent"):
        load_bm25(tmp_path, Bm25Params())
    (tmp_path / "bm25_data.npy").write_bytes(b"no array")
    with pytest.raises(RetrievalError, match="read"):
        load_bm25(tmp_path, Bm25Params())


def test_words_are_folded_stemmed_and_stopped() -> None:
    assert tokenise("The Pumps' pumping, e\u0301clair_X-200!", TokenisingParams()) == (
        "pump",
        "pump",
        "éclair",
        "x",
        "200",
    )
    plain = TokenisingParams(stemming="none", stop_words="none")
    assert tokenise("The Pumps", plain) == ("the", "pumps")
    assert tokenise("— …", plain) == ()


@pytest.mark.parametrize(
    "bad", [{"k1": -1}, {"b": 1.5}, {"weighting": "x"}, {"backend": "x"}, {"backend": "rank-bm25"}, {"epsilon": -1}]
)
def test_bad_parameters_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Bm25Params(**bad)  # type: ignore[arg-type]
