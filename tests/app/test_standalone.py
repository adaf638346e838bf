"""Follow-up questions rewritten to standalone questions by rule, and parsing of a model's rewriting."""

from __future__ import annotations

import pytest

from app.service.engine.standalone import ConversationTurn, read_rewritten, rewriting_task, standalone_by_rule

WARRANTY = ConversationTurn("How long is the warranty of the Heron 4?", "three years [1]")
FOUNDER = ConversationTurn("Who founded Skellwick Instruments?", "Ada Thorne [1]")


@pytest.mark.parametrize(
    ("history", "question", "alone"),
    [
        ((), "Does it cover batteries?", "Does it cover batteries?"),
        ((WARRANTY,), "Does it cover batteries?", "Does the warranty of the Heron 4 cover batteries?"),
        ((WARRANTY,), "Is that transferable?", "Is the warranty of the Heron 4 transferable?"),
        ((WARRANTY,), "What about the Heron 5?", "How long is the warranty of the Heron 5?"),
        ((WARRANTY,), "Why?", "How long is the warranty of the Heron 4? Why?"),
        ((WARRANTY,), "And?", "How long is the warranty of the Heron 4?"),
        ((WARRANTY,), "When does the office in Lisbon open?", "When does the office in Lisbon open?"),
        (
            (WARRANTY,),
            "I know that the Heron floats, does the Osprey?",
            "I know that the Heron floats, does the Osprey?",
        ),
        ((FOUNDER,), "Where was she born?", "Where was Ada Thorne born?"),
        ((FOUNDER,), "Where is its office?", "Where is Skellwick Instruments's office?"),
        (
            (FOUNDER, ConversationTurn("Where was she born?", "")),
            "What about Ada Lovelace?",
            "Where was Ada Lovelace born?",
        ),
    ],
)
def test_by_rule(history: tuple[ConversationTurn, ...], question: str, alone: str) -> None:
    assert standalone_by_rule(question, history) == alone


@pytest.mark.parametrize("question", ["", "?", "it", "And " * 50, "what about ?", "\n", "the", "((("])
def test_odd_questions_stay_text(question: str) -> None:
    for history in (
        (WARRANTY,),
        (ConversationTurn("?", ""),),
        (ConversationTurn("it", "it"), ConversationTurn("they", "")),
    ):
        assert isinstance(standalone_by_rule(question, history), str)


def test_what_a_model_is_told_holds_the_last_exchanges_and_the_question() -> None:
    history = tuple(ConversationTurn(f"Question {n}?", "x" * 2000) for n in range(9))
    task = rewriting_task("Why?", history)
    assert "Question 8?" in task
    assert "Question 2?" not in task
    assert task.count("x" * 500) == 3
    assert task.rstrip().endswith("Standalone question:")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("How long is it?\nBecause", "How long is it?"),
        ('\n Standalone question: "How long is it?"', "How long is it?"),
        ("question: Who?", "Who?"),
        ("  ", ""),
        ("...", ""),
    ],
)
def test_what_a_model_wrote(written: str, read: str) -> None:
    assert read_rewritten(written) == read
