"""Right and wrong abstentions are two figures."""

from __future__ import annotations

from evaluation.analysis.abstentions import Abstentions, abstention_line, count_abstentions


def test_the_mark_of_the_question_decides() -> None:
    found = count_abstentions(
        [
            ("rag", "abstained", False),
            ("rag", "abstained", True),
            ("rag", "supported", True),
            ("rag", "hallucinated", False),
            ("rag", "abstained", None),
            ("closed_book", "supported", None),
        ]
    )
    assert found == (Abstentions("rag", 5, 1, 1, 1, 2, 2), Abstentions("closed_book", 1, 0, 0, 0, 0, 0))
    line = abstention_line(found[0])
    assert "1 rightly (of 2 " in line and "1 wrongly (of 2 " in line
    assert abstention_line(found[1]) == ""
