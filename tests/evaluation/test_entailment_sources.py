"""Where the entailment verifier's evidence comes from and how it is read, and which questions it is asked about."""

from __future__ import annotations

from typing import Any

import pytest

from data.questions import EvidenceSpan, Question
from evaluation.errors import EvaluationError
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.evidence import (
    ClaimRequest,
    GoldEvidence,
    SearchedEvidence,
    query_of,
)
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.routing import RoutedVerifier, has_references, judged_by_entailment
from evaluation.verifiers.verifier import VerificationItem
from tests.evaluation.entailment_helpers import DOCUMENTS, QUESTION, Given, Shelf, judge, sources


def test_nothing_found_is_unverifiable_and_says_so(overlap: Any) -> None:
    (verdict,) = judge(EntailmentVerifier(overlap(), sources(Shelf(()))), "The kiln is fired at dawn.")
    assert (verdict.label, verdict.support, verdict.evidence) == ("unverifiable", 0.0, ())
    assert "holds no evidence" in verdict.reason


def test_the_title_is_read_before_the_passage_but_is_no_evidence(overlap: Any) -> None:
    scorer = overlap()
    (verdict,) = judge(EntailmentVerifier(scorer, sources(Shelf())), "Boat: nine sheep.")
    premise = "Boat. The boat was built by Odo. It carries nine sheep."
    (pair,) = [p for p in scorer.calls[0] if p.evidence == premise]
    assert (pair.claim, pair.question) == ("Boat: nine sheep.", QUESTION.text)
    assert all(word in pair.full_evidence for word in ("Boat\n", "sheep", "Kiln\n", "dawn", "Mill\n", "larch"))
    assert [e.text for e in verdict.evidence] == ["It carries nine sheep."]


def test_a_record_is_read_as_sentences_and_evidence_is_the_field(overlap: Any) -> None:
    record = '{"name": "The mill", "hours": {"Monday": "8:0-17:30", "Sunday": "9:0-12:0"}, "grinds": "rye"}'
    scorer = overlap()
    (verdict,) = judge(EntailmentVerifier(scorer, Given(record), 0.5), "The hours on Sunday: 9:00 to 12:00.")
    assert verdict.label == "supported"
    (evidence,) = verdict.evidence
    assert record[evidence.start : evidence.end] == evidence.text == '"Sunday": "9:0-12:0"'
    assert "{" not in scorer.calls[0][0].evidence


def test_evidence_spans_come_before_the_search() -> None:
    shelf = Shelf()
    span = EvidenceSpan("mill", 21, 45)
    gold = Question("g", "What of the kiln?", evidence=(span,))
    bare = Question("b", "What of the kiln?")
    lost = Question("l", "What of the kiln?", relevant_document_ids=("nowhere",))
    found = sources(shelf).evidence_for([ClaimRequest(q, "It is fired at dawn.") for q in (gold, bare, lost)])
    assert {e.document_id for e in found[0]} == {"mill"}
    assert found[1][0].document_id == found[2][0].document_id == "kiln"
    for e in (e for texts in found for e in texts):
        assert DOCUMENTS[e.document_id].text[e.start : e.start + len(e.text)] == e.text


def test_relevant_documents_are_ranked_by_question_and_claim() -> None:
    shelf = Shelf()
    question = Question("r", "What of it?", relevant_document_ids=("mill", "boat"))
    source = GoldEvidence(shelf, shelf, 1)
    (sheep,), (larch,) = source.evidence_for(
        [ClaimRequest(question, "It carries nine sheep."), ClaimRequest(question, "Its wheel was cut from larch.")]
    )
    assert (sheep.document_id, larch.document_id) == ("boat", "mill")
    assert shelf.queries[0] == "What of it? It carries nine sheep."
    assert query_of(ClaimRequest(Question("x", "y" * 5000), "z" * 5000)) == "y" * 1000 + " " + "z" * 1000


def test_a_search_for_no_chunks_is_refused() -> None:
    with pytest.raises(EvaluationError, match=r"\bk\b.*\b0\b"):
        SearchedEvidence(Shelf(), "f", 0)


REFERENCED = Question("ref", "When is the kiln fired?", ("at dawn",))
UNANSWERABLE = Question("un", "Who owns the kiln?", answerable=False)


def test_references_judge_the_answer_and_evidence_all_else_that_is_said(overlap: Any) -> None:
    entailment = EntailmentVerifier(overlap(), sources(Shelf()))
    routed = RoutedVerifier(ReferenceVerifier(), entailment)
    answer = "The kiln is fired at dawn. It cools for two days."
    questions = (REFERENCED, QUESTION, UNANSWERABLE, QUESTION)
    items = [VerificationItem(q, routed.extract(q, answer).claims, answer) for q in questions]
    found = routed.verify(items)
    assert [[v.claim for v in verdicts] for verdicts in found] == [list(i.claims) for i in items]
    assert {v.verifier for verdicts in found for v in verdicts} == {routed.name}
    assert found[0][0].evidence[0].document_id is None
    assert items[0].claims[0].text == answer
    assert [v.label for v in found[1]] == ["supported", "supported"] == [v.label for v in found[2]]
    assert found[1] == found[3]
    assert ReferenceVerifier().name in routed.name and entailment.name in routed.name


def test_a_right_answer_with_an_invented_statement_is_not_supported(overlap: Any) -> None:
    routed = RoutedVerifier(ReferenceVerifier(), EntailmentVerifier(overlap(), sources(Shelf())))
    question = Question("kiln", "When is the kiln fired?", ("at dawn",))
    labels = []
    for answer in (
        "The kiln is fired at dawn.",
        "The kiln is fired at dawn. Pelicans wrote a famous novel there.",
        "The kiln is fired at noon. Pelicans wrote a famous novel there.",
    ):
        extracted = routed.extract(question, answer)
        (verdicts,) = routed.verify([VerificationItem(question, extracted.claims, answer)])
        labels.append([v.label == "supported" for v in verdicts])
    assert labels == [[True], [True, False], [False, True, False]]


def test_stored_names_tell_the_route(overlap: Any) -> None:
    entailment = EntailmentVerifier(overlap(), sources(Shelf()))
    routed = RoutedVerifier(ReferenceVerifier(), entailment)
    table = {
        v.name: [judged_by_entailment(v.name, q) for q in (REFERENCED, QUESTION, UNANSWERABLE)]
        for v in (ReferenceVerifier(), entailment, routed)
    }
    assert list(table.values()) == [[False] * 3, [True] * 3, [False, True, True]]
    assert [has_references(q) for q in (REFERENCED, QUESTION, UNANSWERABLE)] == [True, False, True]
