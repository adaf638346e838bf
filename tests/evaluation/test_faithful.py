"""Questions with neither references nor an answer in the documents: judged by the chunks shown, in no difference."""

from __future__ import annotations

from typing import Any

import pytest

from data.questions import Question
from evaluation.errors import EvaluationError
from evaluation.outcomes import outcome_of
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.measure import Settings
from evaluation.statistics.summary import summarise
from evaluation.verifiers.faithful import NOTHING_TO_JUDGE_BY, FaithfulVerifier, is_judged_by_prompt
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.routing import excluded_from_differences, has_references, judged_by_entailment
from evaluation.verifiers.verifier import VerificationItem
from generation.prompt import PromptChunk
from retrieval.chunking.chunks import Chunk, RetrievedChunk

KILN = Question("un", "Who owns the kiln?", answerable=False)
KNOWN = Question("ref", "When is the kiln fired?", ("at dawn",))
BARE = Question("bare", "What of the kiln?")
TEXT = "Before noon. The kiln cools for two days."
SHOWN = (PromptChunk(1, RetrievedChunk(Chunk("pots", 100, 100 + len(TEXT), TEXT, "Pots"), 1.0, 1), 13, len(TEXT)),)
SETTINGS = Settings(bootstrap=200, permutations=199)


def item(verifier: Any, question: Question, answer: str, shown: tuple[PromptChunk, ...]) -> VerificationItem:
    return VerificationItem(question, verifier.extract(question, answer).claims, answer, shown)


def test_the_chunks_shown_judge_and_nothing_shown_is_unscored(overlap: Any) -> None:
    verifier = FaithfulVerifier(overlap(), 0.9)
    answer = "The kiln cools for two days. Pelicans own it."
    with_chunks, without = (item(verifier, KILN, answer, shown) for shown in (SHOWN, ()))
    judged, alone = verifier.verify([with_chunks, without])
    assert [v.label for v in judged] == ["supported", "unverifiable"]
    (evidence,) = judged[0].evidence
    # The place is the document's, and only what was shown of the chunk is read.
    assert (evidence.document_id, evidence.start) == ("pots", 113)
    assert evidence.text == "The kiln cools for two days."
    assert [(v.label, v.reason) for v in alone] == [("unscored", NOTHING_TO_JUDGE_BY)] * 2
    assert outcome_of(alone, refused=False).outcome == "unscored"
    assert {v.verifier for v in (*judged, *alone)} == {verifier.name}


def test_each_answer_is_judged_by_its_own_chunks(overlap: Any) -> None:
    other = (PromptChunk(1, RetrievedChunk(Chunk("birds", 0, 16, "Pelicans own it."), 1.0, 1), 0, 16),)
    verifier = FaithfulVerifier(overlap(), 0.9)
    found = verifier.verify([item(verifier, KILN, "Pelicans own it.", shown) for shown in (SHOWN, other, SHOWN)])
    assert [verdicts[0].label for verdicts in found] == ["unverifiable", "supported", "unverifiable"]


def test_stored_runs_that_were_judged_by_chunks_shown_are_read_as_they_were() -> None:
    old = "routed/2 reference/2 f1>=0.8 | faithful/1 x"
    assert [excluded_from_differences(old, q) for q in (KNOWN, KILN, BARE)] == [False, True, False]
    assert [judged_by_entailment(old, q) for q in (KNOWN, KILN, BARE)] == [False, False, True]
    assert not excluded_from_differences(ReferenceVerifier().name, KILN)
    assert not excluded_from_differences("routed/3 reference/3 f1>=0.8 | entailment/2 x", KILN)
    assert is_judged_by_prompt(KILN) and has_references(KILN) and not is_judged_by_prompt(BARE)


def test_a_threshold_that_cannot_be_is_refused(overlap: Any) -> None:
    with pytest.raises(EvaluationError, match=r"threshold.* 0\b"):
        FaithfulVerifier(overlap(), 0.0)


def table(outcomes: dict[str, tuple[str, str]]) -> OutcomeTable:
    records = [
        OutcomeRecord(q, arm, 0, outcome)  # type: ignore[arg-type]
        for q, pair in outcomes.items()
        for arm, outcome in zip(("closed_book", "rag"), pair, strict=True)
    ]
    return OutcomeTable.from_records(records)


def test_questions_apart_are_in_the_rates_and_in_no_difference() -> None:
    outcomes = {f"q{i}": ("hallucinated", "supported") for i in range(6)}
    outcomes |= {f"u{i}": ("unscored", "hallucinated") for i in range(4)}
    excluded = {"u0", "u1", "u2", "u3"}
    found = summarise(table(outcomes), settings=SETTINGS, excluded=excluded)
    rates = {a.arm: (a.questions, a.hallucinated.default.rate, a.unscored.default.rate) for a in found.arms}
    assert rates == {"closed_book": (10, 0.6, 0.4), "rag": (10, 0.4, 0.0)}
    (pair,) = found.pairs
    assert (pair.questions, pair.excluded, pair.left_out) == (6, 4, 0)
    assert pair.difference.default.rate == 1.0
    assert {c.question_id for c in pair.changes} == outcomes.keys() - excluded
    with_all = summarise(table(outcomes), settings=SETTINGS).pairs[0]  # unscored responses are in no difference either
    assert (with_all.difference.default.rate, with_all.excluded, with_all.unscored) == (1.0, 0, 4)
    scored = {q: ("supported", "hallucinated") if q in excluded else pair for q, pair in outcomes.items()}
    assert summarise(table(scored), settings=SETTINGS).pairs[0].difference.default.rate == pytest.approx(0.2)
    assert summarise(table(scored), settings=SETTINGS, excluded=excluded).pairs[0].difference.default.rate == 1.0


def test_a_pair_without_any_other_question_is_left_out() -> None:
    found = summarise(table({"u": ("unscored", "supported")}), settings=SETTINGS, excluded={"u"})
    assert [a.arm for a in found.arms] == ["closed_book", "rag"]
    assert found.pairs == ()
