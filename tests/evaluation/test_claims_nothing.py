"""Answers that repeat their question, describe only their source, decline by role, or repeat themselves to the end."""

from __future__ import annotations

import pytest

from data.questions import Question
from evaluation.claims.extraction import extract_claims
from evaluation.claims.sentences import extract_sentences
from evaluation.declining.refusals import is_refusal
from evaluation.outcomes import Claim
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.unresponsive import repeats_question
from evaluation.verifiers.verifier import VerificationItem

FLOOD = Question("flood", "On which day did a flood ruin much of Skerrow in 1871?", ("3 May 1871", "3 May"))
PUMP = Question("pump", "Which parts does a Tern 7 pump shed once it has no pressure left?", ("the outer seals",))
DESTROY = Question("storm", "When did a storm destroy the pier of Skerrow?", ("1871",))
WHO = Question("who", "Who wrote firmware 2.4.1 of the pump?", ("Ida Brandt",))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (FLOOD, "The answer is: the flood ruined much of Skerrow in 1871."),
        (FLOOD, "The document mentions that a flood ruined much of Skerrow in 1871."),
        (FLOOD, "The answer is found at the end of the passage provided above."),
        (DESTROY, "The text says that the storm destroyed the pier of Skerrow."),
        (PUMP, "A Tern 7 pump sheds parts once it has no pressure left."),
    ],
)
def test_an_answer_that_says_what_was_asked_claims_nothing(question: Question, answer: str) -> None:
    assert repeats_question(question, answer)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (FLOOD, "The flood ruined much of Skerrow in 1873."),
        (FLOOD, "The flood did ruin much of 1871 Skerrow on day."),
        (FLOOD, "The flood did not ruin much of Skerrow in 1871."),
        (WHO, "Firmware 2.4 of the pump was wrote by the writer of 2.4.1 firmware."),
        (WHO, "The pump wrote firmware 2.41 of the pump."),
        (PUMP, "A Tern 7 pump never sheds parts once it has pressure left."),
    ],
)
def test_another_number_or_a_denial_claims_something(question: Question, answer: str) -> None:
    assert not repeats_question(question, answer)


def test_a_value_of_the_question_is_no_other_value_than_the_reference() -> None:
    text = "The flood ruined much of Skerrow in 1871."
    other_day = "The flood ruined Skerrow on 9 June 1871."
    items = [VerificationItem(FLOOD, (Claim(t, 0, len(t)),), t) for t in (text, other_day)]
    (found,), (other,) = ReferenceVerifier().verify(items)
    assert (found.label, found.support) == ("unverifiable", 0.0)
    assert other.label == "contradicted"


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but as a translation assistant I'm not designed to recommend medicines.",
        "I am not qualified to give legal advice.",
        "As a cooking bot I cannot discuss elections. I provide assistance with recipes.",
        "We're not permitted to comment on salaries. My role is to help with travel bookings.",
    ],
)
def test_who_is_made_for_something_else_declines(answer: str) -> None:
    found = extract_sentences(answer)
    assert (found.claims, found.refused) == ((), True)
    full = extract_claims(answer)
    assert (full.claims, full.refused) == ((), True)


@pytest.mark.parametrize("answer", ["The bridge is not designed to carry trams.", "He was not permitted to speak."])
def test_what_a_thing_is_not_made_for_is_a_statement(answer: str) -> None:
    assert not is_refusal(answer) and len(extract_sentences(answer).claims) == 1


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("The Tern Pump: It was built in Oslo.", ["It was built in Oslo."]),
        ("Winner: Ida Brandt", ["Winner: Ida Brandt"]),
        ("The pier was sold: The mayor bought it.", ["The pier was sold: The mayor bought it."]),
        ("The pier is long. It was built of larch. The pier is lo", ["The pier is long.", "It was built of larch."]),
        ("The pier is long. It was built of larch. It was sol", None),
    ],
)
def test_topics_and_cut_repetitions(answer: str, claims: list[str] | None) -> None:
    found = [c.text for c in extract_sentences(answer).claims]
    assert found == claims if claims else len(found) == 3
