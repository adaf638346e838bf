"""Answers that match no reference but state nothing false are supported, and counted as unresponsive."""

from __future__ import annotations

import pytest

from data.questions import Question
from evaluation.claims.extraction import Claim
from evaluation.outcomes import Verdict
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.unresponsive import is_unresponsive, repeats_question
from evaluation.verifiers.verifier import VerificationItem

SKIPPER = Question("q", "Who is the skipper of the ferry Marten?", ("Ida Holm",))


def verdict(question: Question, answer: str) -> Verdict:
    claims = (Claim(answer, 0, len(answer)),)
    ((found,),) = ReferenceVerifier().verify((VerificationItem(question, claims, answer),))
    return found


def statement(label: str, support: float) -> Verdict:
    return Verdict(Claim("It sails at nine.", 0, 17), label, support, "", (), "test/1")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "answer", ["The skipper of the ferry Marten is the ferry's skipper.", "It is the ferry Marten's skipper."]
)
def test_a_question_repeated_claims_nothing(answer: str) -> None:
    assert is_unresponsive(SKIPPER, verdict(SKIPPER, answer), ())


@pytest.mark.parametrize(
    ("text", "reference", "answer"),
    [
        ("Which is heavier, the Marten or the Otter?", "the Otter", "The Marten is heavier."),
        ("Is the Marten a ferry?", "no", "The Marten is a ferry."),
        ("Who is the skipper of the ferry Marten?", "Ida Holm", "The ferry Marten has no skipper."),
        ("Who is the skipper of the ferry Marten?", "Ida Holm", "Marten"),
        ("Who is the skipper of the ferry Marten?", "Ida Holm", "The skipper of the Marten is Olaf Berg."),
    ],
)
def test_what_answers_or_denies_is_no_repetition(text: str, reference: str, answer: str) -> None:
    assert not repeats_question(Question("q", text, (reference,)), answer)


def test_true_statements_that_do_not_answer_are_unresponsive_and_others_are_not() -> None:
    answer = verdict(SKIPPER, "It sails at nine.")
    assert is_unresponsive(SKIPPER, answer, (statement("supported", 0.9),))
    assert not is_unresponsive(SKIPPER, answer, (statement("supported", 0.9), statement("unverifiable", 0.1)))
    assert not is_unresponsive(SKIPPER, answer, ())


def test_a_wrong_value_is_no_lack_of_an_answer() -> None:
    price = Question("q", "What does the ticket cost?", ("12 euros",))
    wrong = verdict(price, "The ticket costs 15 euros.")
    assert wrong.label == "contradicted"
    assert not is_unresponsive(price, wrong, (statement("supported", 0.9),))
