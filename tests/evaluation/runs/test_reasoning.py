"""The final answer of a chain of thought, and that only it is judged."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from data.questions import Question
from evaluation.modifiers.modifier import ModifiedArm
from evaluation.modifiers.reasoning import ChainOfThought
from evaluation.runs.arms import ClosedBook
from evaluation.runs.cells import CellDrawer
from evaluation.verifiers.reference_verifier import ReferenceVerifier

ARM = ModifiedArm(ClosedBook(), [ChainOfThought()])


@pytest.mark.parametrize(
    ("text", "answer", "marked"),
    [
        ("Rome is old. Paris lies low.\nFinal answer: Paris", "Paris", True),
        ("**Final answer:** Paris.\n", "Paris.", True),
        ("Final answer:\n\n**Paris**\nThat is all.", "Paris", True),
        ("Answer: Rome? No.\nThe answer is Paris", "Paris", True),
        ("I looked at it.\nParis\n", "Paris", False),
        ("Paris", "Paris", False),
        ("The answer to this needs thought.\n\n---\n", "The answer to this needs thought.", False),
        ("Paris\nFinal answer:", "Final answer:", False),
        ("", "", False),
        ("...", "...", False),
    ],
)
def test_where_the_answer_stands(text: str, answer: str, marked: bool) -> None:
    span = ARM.answer_span(text)
    assert text[span.start : span.end] == answer
    (seen,) = ARM.observe(Question("q", "?"), text, answer)
    assert seen.happened is marked


def test_only_the_final_answer_is_judged(lab: SimpleNamespace) -> None:
    text = "It could be Rome, or Oslo.\nFinal answer: Paris [1]"
    arms = [ARM]
    drawer = CellDrawer(lab.config(chosen=arms), lab.Scripted(lambda q: text), ReferenceVerifier())
    for record in drawer.draw(lab.QUESTIONS[0], ARM):
        (verdict,) = record.evaluation.verdicts
        assert record.evaluation.outcome == "supported"
        assert text[verdict.claim.start : verdict.claim.end] == "Paris"
        assert record.question_text.startswith("Where is 0?\nReason step by step.")
        assert [o.happened for o in record.observed] == [True]
