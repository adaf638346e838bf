"""RM3 with results computed by hand, and multi-hop retrieval within a budget."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from retrieval.chunking.chunks import Chunk, RetrievedChunk
from retrieval.reformulation.hops import HopBudget, by_best_title, fuse_runs, retrieve_in_hops
from retrieval.reformulation.rm3 import Rm3Params, relevance_model, rm3


def test_relevance_model_and_rm3_by_hand() -> None:
    passages = [["a", "b"], ["b", "b", "c", "c"]]
    model = relevance_model(passages, [3.0, 1.0])
    assert model == pytest.approx({"a": 0.75 / 2, "b": 0.75 / 2 + 0.25 / 2, "c": 0.25 / 2})
    weights = rm3(["a", "z"], passages, [3.0, 1.0], Rm3Params(words=2, original=0.4))
    total = 0.375 + 0.5  # a and b are kept
    assert weights == pytest.approx({"a": 0.4 / 2 + 0.6 * 0.375 / total, "z": 0.4 / 2, "b": 0.6 * 0.5 / total})
    assert sum(weights.values()) == pytest.approx(1.0)


def test_nothing_found_leaves_the_query_and_scores_without_sense_count_alike() -> None:
    assert rm3(["a", "a", "b"], [], [], Rm3Params()) == pytest.approx({"a": 2 / 3, "b": 1 / 3})
    assert rm3(["a"], [[]], [1.0], Rm3Params()) == {"a": 1.0}
    assert relevance_model([["a"], ["b"]], [0.0, -1.0]) == {"a": 0.5, "b": 0.5}
    assert rm3([], [["a"]], [1.0], Rm3Params(original=0.5)) == {"a": 0.5}


@pytest.mark.parametrize("bad", [{"passages": 0}, {"words": 0}, {"original": 1.1}])
def test_bad_parameters_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="RM3"):
        Rm3Params(**bad)  # type: ignore[arg-type]


def item(document: str, rank: int, title: str = "") -> RetrievedChunk:
    return RetrievedChunk(Chunk(document, 0, 1, "x", title), 1.0 / rank, rank)


class Shelf:
    """A retriever that returns results from a table and records the queries."""

    def __init__(self, table: dict[str, tuple[RetrievedChunk, ...]]) -> None:
        self.table = table
        self.asked: list[str] = []

    def __call__(self, queries: Sequence[str], k: int) -> Sequence[Sequence[RetrievedChunk]]:
        self.asked.extend(queries)
        return [self.table[query][:k] for query in queries]


def test_hops_read_ask_again_and_fuse() -> None:
    shelf = Shelf({"q": (item("a", 1, "Heron"), item("b", 2)), "q Heron": (item("c", 1), item("a", 2, "Heron"))})
    hops = retrieve_in_hops(shelf, "q", 3, by_best_title, HopBudget(hops=2))
    assert hops.queries == ("q", "q Heron")
    # a: 1/61 + 1/62; c: 1/61; b: 1/62
    assert [found.chunk.document_id for found in hops.found] == ["a", "c", "b"]
    assert [found.rank for found in hops.found] == [1, 2, 3]
    assert hops.found[0].score == pytest.approx(1 / 61 + 1 / 62)


def test_hops_end_with_the_budget_with_nothing_to_ask_and_with_a_query_that_comes_again() -> None:
    shelf = Shelf({f"q{i}": (item(f"d{i}", 1),) for i in range(9)})
    rewritten = iter(f"q{i}" for i in range(1, 9))
    hops = retrieve_in_hops(shelf, "q0", 5, lambda *_: next(rewritten), HopBudget(hops=3))
    assert hops.queries == ("q0", "q1", "q2") == tuple(shelf.asked)
    for nothing in (None, " ", "q0"):
        one = retrieve_in_hops(shelf, "q0", 5, lambda *_, expected=nothing: expected, HopBudget(hops=4))  # type: ignore[misc]
        assert one.queries == ("q0",)
        assert one.found == shelf.table["q0"], "one hop gives what the search gives"


def test_only_so_many_chunks_are_shown_to_who_asks_again() -> None:
    seen: list[int] = []
    shelf = Shelf({"q": tuple(item(f"d{i}", i + 1) for i in range(8))})
    retrieve_in_hops(shelf, "q", 8, lambda _, found: seen.append(len(found)), HopBudget(hops=2, read=3))
    assert seen == [3]


def test_titles_that_the_question_names_are_passed_over() -> None:
    assert by_best_title("the heron pump", (item("a", 1, "Heron"), item("b", 2, "Valve"))) == "the heron pump Valve"
    assert by_best_title("q", (item("a", 1),)) is None
    assert fuse_runs([(item("a", 1), item("b", 2))], 1)[0].chunk.document_id == "a"


@pytest.mark.parametrize("bad", [{"hops": 0}, {"read": 0}])
def test_a_budget_of_nothing_is_refused(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="budget"):
        HopBudget(**bad)
