"""pass^k and rates by kind, document and retrieval."""

from __future__ import annotations

import pytest

from data.questions import EvidenceSpan, Question
from evaluation.outcomes import AnswerEvaluation, Outcome
from evaluation.robustness.breakdown import CAUSES, arm_breakdown, paraphrase_clusters
from evaluation.robustness.repeated import pass_rates
from evaluation.runs.records import SampleRecord
from evaluation.statistics.measure import Resampler, Settings
from generation.prompt import PromptChunk
from retrieval.chunking.chunks import Chunk, RetrievedChunk

RESAMPLER = Resampler(Settings(bootstrap=100, permutations=99))


def test_pass_k_is_the_chance_that_all_of_k_are_right() -> None:
    outcomes: dict[str, list[Outcome]] = {
        "a": ["supported"] * 4,
        "b": ["supported", "supported", "hallucinated", "hallucinated"],
        "c": ["abstained"] * 4,
    }
    rates = pass_rates(outcomes, {}, RESAMPLER)
    assert [rate.k for rate in rates] == [1, 2, 3, 4]
    expected = [(1 + 1 / 2) / 3, (1 + 1 / 6) / 3, 1 / 3, 1 / 3]
    assert [rate.share.rate for rate in rates] == pytest.approx(expected)


def test_paraphrases_are_one_cluster() -> None:
    span = (EvidenceSpan("d", 0, 4),)
    questions = [
        Question("a", "When?", ("1900",), evidence=span),
        Question("b", "In what year?", ("1900",), evidence=span),
        Question("c", "Who?"),
    ]
    clusters = paraphrase_clusters(questions)
    assert clusters["a"] == clusters["b"] != clusters["c"]
    outcomes: dict[str, list[Outcome]] = {"a": ["supported"], "b": ["hallucinated"], "c": ["supported"]}
    (rate,) = pass_rates(outcomes, clusters, RESAMPLER)
    assert (rate.clusters, rate.share.rate) == (2, pytest.approx(0.75))


def test_unscored_answers_are_in_no_pass_rate() -> None:
    outcomes: dict[str, list[Outcome]] = {"a": ["supported", "unscored"], "b": ["unscored", "unscored"]}
    (rate,) = pass_rates(outcomes, {}, RESAMPLER)
    assert (rate.clusters, rate.share.rate) == (1, 1.0)
    assert pass_rates({}, {}, RESAMPLER) == ()


def _record(question: str, outcome: Outcome, document: str = "") -> SampleRecord:
    chunks = (PromptChunk(1, RetrievedChunk(Chunk(document, 0, 9, "some text"), 1.0, 1), 0, 9),) if document else ()
    reason = "why" if outcome == "unscored" else ""
    return SampleRecord(question, "rag", "greedy", 0, 0, None, chunks, (), AnswerEvaluation(outcome, (), reason))


def test_rates_by_what_retrieval_did_kind_and_document() -> None:
    questions = {
        q.id: q
        for q in (
            Question("a", "A?", ("x",), ("d1",), kind="number"),
            Question("b", "B?", ("x",), ("d2",), kind="list"),
            Question("c", "C?", (), ("d2",), answerable=False, kind="unanswerable"),
            Question("e", "E?", ("x",), kind="number"),
        )
    }
    records = [
        _record("a", "supported", "d1"),
        _record("b", "hallucinated", "d1"),
        _record("c", "abstained", "d1"),
        _record("e", "hallucinated", "d1"),
    ]
    found = arm_breakdown("rag", records, questions, RESAMPLER)
    causes = {row.name: row.hallucinated.rate for row in found.causes}
    assert causes == {
        CAUSES["shown"]: 0.0,
        CAUSES["not_retrieved"]: 1.0,
        CAUSES["not_in_collection"]: 0.0,
        CAUSES["no_gold"]: 1.0,
    }
    assert {row.name: row.questions for row in found.kinds} == {"number": 2, "list": 1, "unanswerable": 1}
    assert [row.name for row in found.documents] == ["d2"]
    assert found.passes == ()


def test_an_arm_that_was_shown_nothing_has_no_causes() -> None:
    found = arm_breakdown("closed_book", [_record("a", "supported")], {"a": Question("a", "A?", ("x",))}, RESAMPLER)
    assert found.causes == ()
    assert not found.any_rows
