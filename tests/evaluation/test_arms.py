"""Arms choose the chunks a question is shown with."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from data.questions import EvidenceSpan, Question
from evaluation.errors import EvaluationError
from evaluation.runs.arms import ClosedBook, MissingGoldError, Oracle, Rag
from retrieval.chunking.chunks import Chunk, RetrievedChunk

TEXTS = {"a": "a0a0a0a0a0b1b1b1b1b1c2c2c2c2c2", "b": "d3d3d3d3d3e4e4e4e4e4"}
CHUNKS = {
    name: tuple(Chunk(name, i, i + 10, text[i : i + 10]) for i in range(0, len(text), 10))
    for name, text in TEXTS.items()
}


class Passages:
    def chunks_of(self, document_id: str) -> tuple[Chunk, ...]:
        return CHUNKS.get(document_id, ())


class Search:
    """Ranks all chunks, the last first; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def retrieve_many(self, queries: Sequence[str], k: int) -> tuple[tuple[RetrievedChunk, ...], ...]:
        self.asked.append(tuple(queries))
        ranked = [c for name in ("b", "a") for c in reversed(CHUNKS[name])][:k]
        return tuple(tuple(RetrievedChunk(c, 1 / r, r) for r, c in enumerate(ranked, 1)) for _ in queries)


def ids(found: Sequence[RetrievedChunk]) -> list[str]:
    assert [r.rank for r in found] == list(range(1, len(found) + 1))
    return [f"{r.chunk.document_id}{r.chunk.start}" for r in found]


def question(**fields: object) -> Question:
    return Question("q", "what?", **fields)  # type: ignore[arg-type]


def test_closed_book_shows_nothing() -> None:
    arm = ClosedBook()
    arm.prepare([question()])
    assert (arm.name, arm.settings, arm.chunks(question())) == ("closed_book", "", ())


def test_rag_shows_what_the_search_finds() -> None:
    search = Search()
    arm = Rag(search, 3, "hybrid minmax")
    assert (arm.name, arm.settings) == ("rag", "k=3 hybrid minmax")
    assert ids(arm.chunks(question())) == ["b10", "b0", "a20"]


def test_rag_prepares_in_one_call_without_changing_the_result() -> None:
    search, other = Search(), Question("q2", "where?")
    arm = Rag(search, 2)
    arm.prepare([question(), other, question()])
    assert arm.chunks(question()) == Rag(Search(), 2).chunks(question())
    arm.chunks(other)
    assert search.asked == [("what?", "where?")]
    arm.prepare([])
    assert len(search.asked) == 1


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_refused(k: int) -> None:
    with pytest.raises(EvaluationError, match=rf"\bk\b.* {k}\b"):
        Rag(Search(), k)
    with pytest.raises(EvaluationError, match=rf"\bk\b.* {k}\b"):
        Oracle(Passages(), k)


@pytest.mark.parametrize(
    ("spans", "k", "expected"),
    [
        ((("a", 12, 15),), 4, ["a10"]),
        ((("a", 8, 12),), 4, ["a0", "a10"]),
        ((("a", 10, 20),), 4, ["a10"]),
        ((("a", 8, 12), ("b", 0, 3)), 4, ["a0", "b0", "a10"]),
        ((("a", 8, 12), ("b", 0, 3)), 2, ["a0", "b0"]),
        ((("a", 1, 2), ("a", 3, 4)), 4, ["a0"]),
    ],
)
def test_oracle_shows_the_chunks_with_evidence(
    spans: tuple[tuple[str, int, int], ...], k: int, expected: list[str]
) -> None:
    item = question(evidence=tuple(EvidenceSpan(*s) for s in spans), relevant_document_ids=("a", "b"))
    assert ids(Oracle(Passages(), k, Search()).chunks(item)) == expected


def test_oracle_without_evidence_takes_the_search_order_within_relevant_documents() -> None:
    item = question(relevant_document_ids=("a",), answerable=False)
    assert ids(Oracle(Passages(), 2, Search()).chunks(item)) == ["a20", "a10"]
    assert ids(Oracle(Passages(), 2).chunks(item)) == ["a0", "a10"]
    both = question(relevant_document_ids=("a", "b"))
    assert ids(Oracle(Passages(), 9).chunks(both)) == ["a0", "b0", "a10", "b10", "a20"]


def test_oracle_prepares_only_what_needs_a_search() -> None:
    search = Search()
    arm = Oracle(Passages(), 2, search)
    located = Question("q3", "who?", relevant_document_ids=("a",), evidence=(EvidenceSpan("a", 0, 1),))
    without = Question("q2", "where?", relevant_document_ids=("b",))
    arm.prepare([located, without, question()])
    assert ids(arm.chunks(without)) == ["b10", "b0"]
    assert search.asked == [("where?",)]


def test_missing_gold_is_an_error_that_names_the_question() -> None:
    arm = Oracle(Passages(), 2)
    with pytest.raises(MissingGoldError, match=r"'q'.*no evidence"):
        arm.chunks(question())
    with pytest.raises(MissingGoldError, match="nowhere"):
        arm.chunks(question(relevant_document_ids=("nowhere",)))
    with pytest.raises(MissingGoldError, match="none"):
        arm.chunks(question(evidence=(EvidenceSpan("a", 500, 510),)))


def test_another_set_up_of_the_search_gives_the_oracle_other_settings() -> None:
    assert Oracle(Passages(), 3, Search()).settings == "k=3 order=search"
    assert Oracle(Passages(), 3, Search(), settings="mode=bm25").settings == "k=3 order=search mode=bm25"
