"""Detection of follow-up questions by their content rather than their length."""

from __future__ import annotations

import time

import pytest

from app.service.engine.standalone import ConversationTurn, standalone_by_rule

BEFORE = "How long is the warranty of the Heron 4?"
HISTORY = (ConversationTurn(BEFORE, "three years [1]"),)


@pytest.mark.parametrize(
    "message",
    [
        *("What is ERR-77?", "Who is Ada?", "What's torque?", "Define torque.", "List all offices", "ERR-77?"),
        *("Where is Lisbon?", "return policy", "Reset password?", "Is parking free?", "Can dogs swim?", "Error 17?"),
        *("What time is it?", "Why is the sky blue?", "Is there a gym?", "Which model floats best?"),
        *("Who founded Skellwick?", "What causes E-5?", "how to reset the probe", "What happened in 1871?"),
        "How long does it take to ship an order?",
        "Is it possible to return the Osprey?",
        "Does the Osprey come with its cable?",
        "If a battery fails, can I replace it?",
        "When a parcel is lost, who pays for it?",
    ],
)
def test_a_sentence_of_its_own_stands_alone(message: str) -> None:
    assert standalone_by_rule(message, HISTORY) == message


@pytest.mark.parametrize(
    ("message", "alone"),
    [
        ("And what is the price of the Osprey?", "And what is the price of the Osprey?"),
        ("Hi, what is E-5?", "what is E-5?"),
    ],
)
def test_an_opener_before_a_sentence_of_its_own_ties_it_to_nothing(message: str, alone: str) -> None:
    assert standalone_by_rule(message, HISTORY) == alone


@pytest.mark.parametrize(
    "message",
    [
        *(
            "Why?",
            "How long?",
            "Since when?",
            "Which ones?",
            "By what date?",
            "Who pays?",
            "What changed?",
            "How wide?",
        ),
        *("In winter?", "Even on Sundays?", "If the battery is dead?", "Batteries?", "Any exceptions?", "The colour?"),
        *("Which one is cheaper?", "Which is lighter?", "What happens then?", "How do I get there?", "Warum?"),
        *("What about a longer one?", "What kind of battery?", "Or the Osprey?", "What if the battery is dead?"),
        "For customers outside of Europe with a receipt from a shop that has closed since?",
        "Does the same apply to refurbished devices that somebody else returned within a month and the others?",
    ],
)
def test_what_leaves_something_out_takes_the_question_before(message: str) -> None:
    alone = standalone_by_rule(message, HISTORY)
    assert alone.startswith(BEFORE)
    assert alone != BEFORE


@pytest.mark.parametrize(
    "message",
    ["And?", "Really?", "Are you sure about that?", "Tell me more.", "Go on", "Could you elaborate?", "Such as?"],
)
def test_what_asks_for_more_asks_again(message: str) -> None:
    assert standalone_by_rule(message, HISTORY) == BEFORE


@pytest.mark.parametrize(
    ("message", "alone"),
    [
        (
            "Does it also hold when I bought mine abroad and lost the receipt last year?",
            "Does the warranty of the Heron 4 also hold when I bought mine abroad and lost the receipt last year?",
        ),
        (
            "And how long does that take for people in Norway?",
            "And how long does the warranty of the Heron 4 take for people in Norway?",
        ),
        ("The Heron 5?", "How long is the warranty of the Heron 5?"),
        ("Thanks! And the Heron 5?", "How long is the warranty of the Heron 5?"),
    ],
)
def test_references_are_put_in_however_long_the_message_is(message: str, alone: str) -> None:
    assert standalone_by_rule(message, HISTORY) == alone


def test_a_huge_conversation_takes_no_time() -> None:
    history = tuple(ConversationTurn("the and what is " * 50_000, "yes") for _ in range(8))
    begun = time.perf_counter()
    for message in ("it " * 660, "and " * 500, "which one " * 199, "the same " * 200, "A1 " * 660 + "?", "more " * 400):
        standalone_by_rule(message, history)
    assert time.perf_counter() - begun < 2
