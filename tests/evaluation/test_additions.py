"""What a sentence adds to its answer is a claim of its own, judged by the evidence."""

from __future__ import annotations

from typing import Any

import pytest

from data.questions import Question
from evaluation.outcomes import Claim, outcome_of
from evaluation.verifiers.additions import additions
from evaluation.verifiers.context_evidence import ContextEvidence
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.routing import RoutedVerifier
from evaluation.verifiers.verifier import VerificationItem

LAMP = Question("lamp", "Who lit the lamp of Skerrow first?", ("Ada Morrow", "Morrow"))
DAYS = Question("days", "How long does the float drift?", ("21 days", "three weeks"))
LIST = Question("list", "Which two birds nest on the pier?", ("terns and gulls", "gulls and terns"))


def added(question: Question, sentence: str) -> list[str]:
    def answers(text: str) -> bool:
        return ReferenceVerifier().answers(question, Claim(text, 0, len(text)))

    assert answers(sentence)
    found = additions(sentence, (question.text, *question.references), answers)
    return [sentence[span.start : span.end] for span in found]


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        (DAYS, "21 days, as the almanac of Thorne says.", ["21 days, as the almanac of Thorne says"]),
        (DAYS, "The float drifts 21 days because the wind is weak.", ["because the wind is weak"]),
        (DAYS, "The float drifts 21 days and has a red keel.", ["The float drifts 21 days and has a red keel"]),
        (DAYS, "The float drifts 21 days (measured by Thorne).", ["The float drifts 21 days (measured by Thorne"]),
        (DAYS, "In 1871, the float drifted 21 days.", ["In 1871, the float drifted 21 days"]),
        (LAMP, "Ada Morrow, who came from Oslo, lit the lamp first.", ["Ada Morrow, who came from Oslo"]),
        (LAMP, "The lamp was first lit by Ada Morrow, a retired dentist.", ["Ada Morrow, a retired dentist"]),
        (LAMP, "Ada Morrow lit it first, and the mayor paid her.", ["and the mayor paid her"]),
        (LIST, "Terns and gulls nest there, which the council bought.", None),
    ],
)
def test_an_addition_is_found(question: Question, sentence: str, expected: list[str] | None) -> None:
    assert added(question, sentence) == (expected or [sentence.rstrip(".")])


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (DAYS, "21 days"),
        (DAYS, "The float drifts 21 days."),
        (DAYS, "21 days, according to the documents."),
        (DAYS, "21 days, as the passage states."),
        (DAYS, "The float drifts for three weeks, 21 days."),
        (LAMP, "The lamp of Skerrow was first lit by Ada Morrow, who lit the lamp."),
        (LIST, "Terns, and gulls."),
        (LIST, "Gulls and terns nest on the pier."),
    ],
)
def test_the_answer_its_question_and_its_source_are_no_additions(question: Question, sentence: str) -> None:
    assert added(question, sentence) == []


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("Ada Morrow.", "supported"),
        ("Ada Morrow, the keeper, lit the lamp first.", "supported"),
        ("Ada Morrow, a retired dentist, lit the lamp first.", "hallucinated"),
        ("Ada Morrow, who was born in Oslo.", "hallucinated"),
        ("Ada Morrow, as the book Northern Lights says.", "hallucinated"),
        ("Ada Morrow lit the lamp first. She carried oil up the stairs.", "supported"),
        ("Ada Morrow lit the lamp first because Siemens paid. She carried oil up the stairs.", "hallucinated"),
    ],
)
def test_an_invented_addition_makes_an_answer_hallucinated(overlap: Any, answer: str, outcome: str) -> None:
    text = "Ada Morrow was the keeper. She lit the lamp first. She carried the oil up the stairs."
    verifier = RoutedVerifier(
        ReferenceVerifier(), EntailmentVerifier(overlap(), ContextEvidence({LAMP.id: (text,)}), 0.7)
    )
    found = verifier.extract(LAMP, answer)
    (verdicts,) = verifier.verify([VerificationItem(LAMP, found.claims, answer)])
    assert all(answer[c.start : c.end] == c.text for c in found.claims)
    assert outcome_of(verdicts, found.refused).outcome == outcome
