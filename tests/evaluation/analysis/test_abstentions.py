"""Correct and wrong abstentions are counted separately."""

from __future__ import annotations

from evaluation.analysis.abstentions import Abstentions, abstention_line, count_abstentions
from evaluation.outcomes import UNRESPONSIVE, AnswerEvaluation, Claim, Outcome, Verdict


def judged(outcome: Outcome, reason: str = "") -> AnswerEvaluation:
    if outcome != "supported":
        return AnswerEvaluation(outcome, ())
    return AnswerEvaluation(outcome, (Verdict(Claim("so", 0, 2), "supported", 1.0, reason, (), "test/1"),))


def test_the_mark_of_the_question_decides() -> None:
    found = count_abstentions(
        [
            ("rag", judged("abstained"), False),
            ("rag", judged("abstained"), True),
            ("rag", judged("supported"), True),
            ("rag", judged("hallucinated"), False),
            ("rag", judged("abstained"), None),
            ("closed_book", judged("supported"), None),
        ]
    )
    assert found == (Abstentions("rag", 5, 1, 1, 1, 2, 2, 1), Abstentions("closed_book", 1, 0, 0, 0, 0, 0, 1))
    line = abstention_line(found[0])
    assert "1 rightly (of 2 " in line and "1 wrongly (of 2 " in line
    assert abstention_line(found[1]) == ""


def test_unresponsive_answers_are_a_part_of_the_supported_ones() -> None:
    (found,) = count_abstentions([("rag", judged("supported", UNRESPONSIVE), True), ("rag", judged("supported"), True)])
    assert (found.supported, found.unresponsive) == (2, 1)
    assert "1 of 2" in abstention_line(found)
