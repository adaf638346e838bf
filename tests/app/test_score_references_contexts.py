"""Answers with both references and contexts: both parts are judged and shown."""

from __future__ import annotations

from typing import Any

import pytest

from app.judging.answer_batches import judge_answers
from app.judging.answer_judge import JudgePlan, answer_key, open_answer_judge
from data.answer_records import AnswerRecord

CONTEXT = "The kiln is fired at dawn. It cools for two days."


def _record(
    answer: str, contexts: tuple[str, ...] = (CONTEXT,), references: tuple[str, ...] = ("at dawn",)
) -> AnswerRecord:
    return AnswerRecord("one", "When is the kiln fired?", answer, contexts, references)


def _judged(*records: AnswerRecord, **plan: Any) -> list[Any]:
    judge = open_answer_judge(records, JudgePlan(model="token-overlap", **plan))
    return [j.evaluation for batch in judge_answers(records, judge) for j in batch]


def test_a_right_answer_with_an_invented_statement_is_hallucinated() -> None:
    right, more, invented, wrong = _judged(
        _record("The kiln is fired at dawn."),
        _record("The kiln is fired at dawn. It cools for two days."),
        _record("The kiln is fired at dawn. Pelicans wrote a famous novel there."),
        _record("Nobody fires anything before noon. It cools for two days."),
    )
    assert [e.outcome for e in (right, more, invented, wrong)] == [
        "supported",
        "supported",
        "hallucinated",
        "hallucinated",
    ]
    assert [v.label for v in more.verdicts] == ["supported", "supported"]
    assert "Pelicans" in invented.verdicts[1].claim.text and invented.verdicts[1].label == "unverifiable"
    cools = next(v for v in wrong.verdicts if v.claim.text.startswith("It cools"))
    assert cools.label == "supported" and wrong.verdicts[0].label != "supported"


def test_references_alone_judge_where_asked_and_where_an_answer_has_no_contexts() -> None:
    invented = "The kiln is fired at dawn. Pelicans wrote a famous novel there."
    assert [e.outcome for e in _judged(_record(invented), choice="reference")] == ["supported"]
    found = _judged(_record("The kiln is fired at dawn."), _record(invented, contexts=()))
    assert [e.outcome for e in found] == ["supported", "supported"]


def test_each_answer_is_judged_by_its_own_contexts_though_ids_repeat() -> None:
    answer = "The kiln is fired at dawn. Ten owls live in the chimney."
    found = _judged(_record(answer), _record(answer, contexts=("Ten owls live in the chimney.",)))
    assert [e.outcome for e in found] == ["hallucinated", "supported"]


@pytest.mark.parametrize("other", [{"contexts": ("Other.",)}, {"references": ("at noon",)}])
def test_a_stored_verdict_depends_on_references_and_contexts(other: dict[str, tuple[str, ...]]) -> None:
    records = (_record("At dawn."), _record("At dawn.", **other))
    judge = open_answer_judge(records, JudgePlan(model="token-overlap"))
    assert answer_key(records[0], judge) != answer_key(records[1], judge)


def test_an_answer_to_a_question_marked_unanswerable_is_wrong_by_the_mark() -> None:
    marked = AnswerRecord("two", "Who owns the kiln?", "The kiln is fired at dawn.", (CONTEXT,), answerable=False)
    right, wrong = _judged(_record("At dawn."), marked)
    assert (right.outcome, wrong.outcome) == ("supported", "hallucinated")
    assert [v.label for v in wrong.verdicts] == ["unverifiable"]
