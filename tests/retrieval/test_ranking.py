"""Reranking, MMR, duplicates and neighbours, with small lists and results computed by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from model.pairs.scoring import Pair
from retrieval.chunking.chunks import Chunk, RetrievedChunk
from retrieval.ranking.diversity import MmrParams, diversify, mmr_order
from retrieval.ranking.duplicates import resemblance, shingles, without_duplicates
from retrieval.ranking.neighbours import with_neighbours
from retrieval.ranking.reranking import RerankParams, rerank_many


class CountsShared:
    """A scorer that returns the share of the claim's words in the evidence, and records the pairs."""

    name = "counts-shared"

    def __init__(self) -> None:
        self.calls: list[Sequence[Pair]] = []

    def room(self, claim: str, question: str = "") -> int:
        return 100

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(text.split()) for text in texts]

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        self.calls.append(pairs)
        wanted = [set(pair.claim.split()) for pair in pairs]
        return tuple(len(w & set(p.evidence.split())) / len(w) for w, p in zip(wanted, pairs, strict=True))


def found(*texts: str, document: str = "d") -> tuple[RetrievedChunk, ...]:
    start, items = 0, []
    for rank, text in enumerate(texts, start=1):
        items.append(RetrievedChunk(Chunk(document, start, start + len(text), text), 1.0 / rank, rank, dense_rank=rank))
        start += len(text) + 1
    return tuple(items)


def test_reranking_reads_the_first_and_leaves_the_rest_behind() -> None:
    scorer = CountsShared()
    lists = (found("x", "a b", "a", "a b c"), found("c", "c d"))
    one, other = rerank_many(("a b c", "d"), lists, scorer, RerankParams(depth=3))
    assert [item.chunk.text for item in one] == ["a b", "a", "x", "a b c"]
    assert [item.rank for item in one] == [1, 2, 3, 4]
    assert [item.score for item in one] == sorted((item.score for item in one), reverse=True)
    assert one[0].dense_rank == 2
    assert [item.chunk.text for item in other] == ["c d", "c"]
    assert len(scorer.calls) == 1, "the pairs of all queries go to the scorer together"
    assert rerank_many(("a",), ((),), scorer, RerankParams()) == ((),)


def test_mmr_by_hand() -> None:
    relevance = np.asarray([1.0, 0.9, 0.5])
    similarity = np.asarray([[1.0, 0.95, 0.0], [0.95, 1.0, 0.1], [0.0, 0.1, 1.0]])
    # After the first: 0.5 * 0.9 - 0.5 * 0.95 < 0.5 * 0.5 - 0.
    assert mmr_order(relevance, similarity, 0.5, 3) == [0, 2, 1]
    assert mmr_order(relevance, similarity, 1.0, 3) == [0, 1, 2]
    assert mmr_order(relevance, similarity, 0.5, 1) == [0]


def test_diversifying_orders_the_head_and_keeps_everything() -> None:
    vectors = np.asarray([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    items = found("a", "b", "c", "d")
    ordered = diversify(items, vectors, MmrParams(0.5, depth=3), 2)
    assert [item.chunk.text for item in ordered] == ["a", "c", "b", "d"]
    assert [item.rank for item in ordered] == [1, 2, 3, 4]
    assert [i.chunk.text for i in diversify(items, vectors, MmrParams(1.0, depth=3), 4)] == ["a", "b", "c", "d"]
    assert diversify((), np.zeros((0, 2), dtype=np.float32), MmrParams(), 3) == ()


def test_resemblance_by_hand_and_duplicates_leave() -> None:
    assert shingles("One two, three four FIVE") == {("one", "two", "three", "four"), ("two", "three", "four", "five")}
    assert resemblance(shingles("a b c d e"), shingles("a b c d x")) == pytest.approx(1 / 3)
    text = "the pump weighs nine kilograms and fits slot four"
    items = found(text, text.upper() + "!", "something else entirely, as it were", text + " again", text)
    kept = without_duplicates(items, 0.8)
    assert [item.chunk.text for item in kept] == [text, "something else entirely, as it were"]
    assert [item.rank for item in kept] == [1, 2]
    assert without_duplicates(items, 0.8, max_count=1) == kept[:1]
    assert len(without_duplicates(items, 1.0)) == 3, "at 1 only the same words in the same order leave"


def test_neighbours_stand_beside_within_the_document_and_once() -> None:
    one = [Chunk("a", 4 * i, 4 * i + 3, f"a{i} ") for i in range(4)]
    chunks = [*one, Chunk("b", 0, 3, "b0 ")]
    listed = with_neighbours(
        (
            RetrievedChunk(one[1], 0.9, 1, dense_rank=3),
            RetrievedChunk(one[2], 0.8, 2),
            RetrievedChunk(chunks[4], 0.7, 3),
        ),
        chunks,
        chunks.index,
        1,
    )
    assert [item.chunk.text.strip() for item in listed] == ["a1", "a0", "a2", "a3", "b0"]
    assert [item.rank for item in listed] == [1, 2, 3, 4, 5]
    assert [item.score for item in listed] == [0.9, 0.9, 0.8, 0.8, 0.7]
    assert (listed[0].dense_rank, listed[1].dense_rank) == (3, None)


@pytest.mark.parametrize(
    ("make", "says"),
    [(lambda: RerankParams(0), "at least 1"), (lambda: MmrParams(1.5), "1.5"), (lambda: MmrParams(depth=0), "0")],
)
def test_bad_parameters_are_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()
