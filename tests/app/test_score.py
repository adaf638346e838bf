"""``score``: outcomes, rates and intervals of answers from another system, including invalid ones."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.errors import AppError
from app.judging.answer_judge import FAILURES_IN_A_ROW, JudgePlan
from app.scoring.groups import group_names
from app.scoring.score import ScorePlan, score
from data.answer_records import AnswerRecord
from data.answers import AnswerFile, answers_from_rows
from evaluation.detection.baselines import TokenOverlapScorer
from evaluation.verifiers.layered_scorer import WrappingScorer
from model.errors import ModelError
from model.pairs.scoring import Pair

NOTE = "The warranty of the Heron 4 lasts for three years. Batteries are not covered."
LONG, COVERED = "How long does the warranty last?", "Are batteries covered?"
ROWS: list[dict[str, Any]] = [
    {"question": LONG, "answer": "The warranty lasts for three years.", "contexts": [NOTE], "system": "a"},
    {"question": COVERED, "answer": "Zeppelin covers pelicans in Lisbon.", "contexts": [NOTE], "system": "a"},
    {"question": LONG, "answer": "Pelicans founded Zeppelin.", "contexts": [NOTE], "system": "b"},
    {"question": COVERED, "answer": "I don't know.", "contexts": [NOTE], "system": "b"},
]
OVERLAP = JudgePlan(model="token-overlap")


class Failing(TokenOverlapScorer):
    """Token overlap that gives NaN or raises an error for claims with a given word."""

    def __init__(self, word: str, how: str) -> None:
        self._word, self._how = word, how

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        hit = [self._word in pair.claim for pair in pairs]
        if self._how == "dies" and any(hit):
            raise ModelError("out of memory")
        return tuple(math.nan if bad else s for bad, s in zip(hit, super().score(pairs), strict=True))


def scored(rows: Sequence[dict[str, Any]], plan: ScorePlan | None = None, **options: Any) -> Any:
    return score(answers_from_rows(rows), plan or ScorePlan(OVERLAP), **options)


def outcomes(result: Any) -> list[str]:
    return [a.evaluation.outcome for a in result.answers]


def run(tmp_path: Path, *arguments: str) -> int:
    return main(["score", *arguments, "--home", str(tmp_path / "home")])


def written(path: Path, rows: Sequence[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_contexts_judge_faithfulness_and_systems_are_compared_on_shared_questions() -> None:
    result = scored(ROWS)
    assert (result.measure, result.kind) == ("faithfulness", "contexts")
    assert outcomes(result) == ["supported", "hallucinated", "hallucinated", "abstained"]
    assert [a.group for a in result.answers] == ["1", "2", "1", "2"]
    rates = {a.arm: a.hallucinated.default.rate for a in result.summary.arms}
    assert rates == {"a": 0.5, "b": 0.5}
    (pair,) = result.summary.pairs
    assert (pair.baseline, pair.other, pair.questions) == ("a", "b", 2)
    unsupported = result.answers[1].unsupported[0]
    assert unsupported.claim.text == "Zeppelin covers pelicans in Lisbon."
    assert result.answers[0].evaluation.verdicts[0].evidence[0].document_id == "context 1"


def test_references_judge_factuality_without_a_model_and_both_are_never_mixed() -> None:
    rows = [
        {"question": LONG, "answer": "three years", "references": ["three years"], "contexts": ["It is a decade."]},
        {"question": COVERED, "answer": "yes", "references": ["no"], "contexts": ["yes"]},
    ]

    def never(name: str | None, device: str) -> TokenOverlapScorer:
        raise AssertionError("no scorer is needed")

    result = score(answers_from_rows(rows), ScorePlan(JudgePlan("reference")), load=never)
    assert (result.measure, result.kind, outcomes(result)) == (
        "factuality",
        "references",
        ["supported", "hallucinated"],
    )
    other = scored(rows, ScorePlan(JudgePlan("entailment", model="token-overlap")))
    assert (other.measure, outcomes(other)) == ("faithfulness", ["hallucinated", "supported"])
    third = scored(rows, ScorePlan(JudgePlan("entailment", "references", "token-overlap")))
    assert (third.measure, third.kind, outcomes(third)) == ("factuality", "references", ["supported", "hallucinated"])


class Reading(WrappingScorer):
    """A scorer that supports every claim, like a reader that gave the answer itself."""

    name = "reading"

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        return (1.0,) * len(pairs)


def test_a_question_that_is_marked_unanswerable_has_no_short_answer_read() -> None:
    row = {"question": "Who?", "answer": "Pelicans.", "contexts": [NOTE]}
    file = answers_from_rows([{**row, "id": "a"}, {**row, "id": "b", "answerable": False}])

    def judged(known: Any = None) -> Any:
        return score(file, ScorePlan(), known=known, load=lambda name, device: Reading(TokenOverlapScorer()))

    result = judged()
    assert outcomes(result) == ["supported", "hallucinated"]
    assert [a.support for a in result.answers] == [1.0, 0.0]
    keys = [a.key for a in result.answers]
    assert len(set(keys)) == 2  # a stored verdict is of the question as it was marked


def test_by_references_whatever_claims_to_answer_it_is_wrong() -> None:
    rows: list[dict[str, Any]] = [
        {"question": LONG, "answer": "three years", "references": ["three years"]},
        {"question": "Who?", "answer": "Pelicans.", "answerable": False, "contexts": [NOTE]},
        {"question": "When?", "answer": "I don't know.", "answerable": "no", "contexts": [NOTE]},
        {"question": "What?", "answer": "a pelican", "answerable": False, "references": ["a pelican"]},
        {"question": "Why?", "answer": "Because.", "contexts": [NOTE]},
    ]
    result = score(answers_from_rows(rows[:4]))  # all that can have references have some
    assert result.kind == "references and contexts"
    assert outcomes(result) == ["supported", "hallucinated", "abstained", "supported"]
    strict = score(answers_from_rows(rows), ScorePlan(JudgePlan("reference")))
    assert outcomes(strict)[4] == "unscored"
    marked_only = scored([rows[1], rows[2]])  # nothing is said of any right answer: the contexts judge
    assert marked_only.kind == "contexts" and outcomes(marked_only) == ["hallucinated", "abstained"]
    mixed = scored(rows)
    assert mixed.kind == "contexts" and "only 2 of 3 answers have references" in mixed.notes[0]


def test_labels_give_the_verifiers_figures() -> None:
    labels = [False, True, True, False]
    result = scored([{**row, "hallucinated": label} for row, label in zip(ROWS, labels, strict=True)])
    overall = result.detection.overall
    assert (overall.n, overall.hallucinated) == (4, 2)
    assert overall.auroc.estimate == overall.balanced_accuracy.estimate == 1.0
    assert scored(ROWS).detection is None
    strict = ScorePlan(JudgePlan(model="token-overlap", threshold=1.0))
    flipped = scored([{**row, "supported": label} for row, label in zip(ROWS, labels, strict=True)], strict)
    assert flipped.detection.overall.auroc.estimate == 0.0
    assert flipped.detection.overall.balanced_accuracy.estimate == 0.0


def test_answers_to_one_question_are_one_unit() -> None:
    many = scored([{**ROWS[1], "answer": f"Zeppelin covers {n} pelicans."} for n in range(12)])
    assert (many.summary.arms[0].questions, many.summary.arms[0].responses) == (1, 12)
    assert any("(group)" in note for note in many.notes)
    grouped = scored([{**ROWS[1], "answer": f"Zeppelin covers {n} pelicans.", "group": str(n)} for n in range(12)])
    assert grouped.summary.arms[0].questions == 12
    width = [r.summary.arms[0].hallucinated.default for r in (many, grouped)]
    assert width[0].lower is not None and width[1].lower is not None and width[0].lower < width[1].lower


def test_group_names_never_join_what_differs() -> None:
    records = [
        AnswerRecord("1", "One?", "x", arm="a"),
        AnswerRecord("1", "Two?", "x", arm="b"),
        AnswerRecord("2", " one? ", "x", arm="b"),
        AnswerRecord("3", "", "x", ("text",)),
        AnswerRecord("4", "", "x", ("text",)),
        AnswerRecord("5", "", "x"),
        AnswerRecord("6", "", "x", group="1"),
    ]
    assert group_names(records) == ("1 (2)", "1 (3)", "1 (2)", "3", "3", "5", "1")


def test_one_answer_all_abstained_all_unscored() -> None:
    one = scored(ROWS[:1])
    estimate = one.summary.arms[0].hallucinated.default
    assert (estimate.rate, estimate.questions) == (0.0, 1) and estimate.upper is not None and estimate.upper > 0.9
    abstained = scored([{**row, "answer": "I don't know."} for row in ROWS[:2]])
    assert set(outcomes(abstained)) == {"abstained"}
    assert abstained.summary.arms[0].hall_answered.default.rate is None
    unscored = scored([{**ROWS[0], "answer": text} for text in ("", "...", "  ")])
    assert set(outcomes(unscored)) == {"unscored"} and unscored.unscored == 3
    assert dict(unscored.reasons)["the answer is empty"] == 2


def test_missing_contexts_are_unscored_and_nothing_to_judge_by_is_an_error() -> None:
    result = scored([ROWS[0], {**ROWS[1], "contexts": []}, {**ROWS[3], "contexts": None}])
    assert outcomes(result) == ["supported", "unscored", "abstained"]
    assert result.answers[1].evaluation.reason == "the answer has no context"
    with pytest.raises(AppError, match=r"1 .*contexts.*references"):
        scored([{"answer": "x"}])
    with pytest.raises(AppError, match=r"1 .*references"):
        scored(ROWS[:1], ScorePlan(JudgePlan("entailment", "references")))
    with pytest.raises(AppError, match=r"'c'.*a, b"):
        scored(ROWS, ScorePlan(OVERLAP, baseline="c"))


def test_an_answer_of_fifty_thousand_characters() -> None:
    text = "The warranty lasts for three years. " * 1400
    result = scored([{**ROWS[0], "answer": text + "Pelicans founded Zeppelin."}])
    assert outcomes(result) == ["hallucinated"]
    (found,) = result.answers[0].unsupported
    assert result.answers[0].record.answer[found.claim.start : found.claim.end] == "Pelicans founded Zeppelin."


@pytest.mark.parametrize("how", ["nan", "dies"])
def test_a_verifier_that_fails_on_one_answer_costs_that_answer_only(how: str) -> None:
    kept: list[str] = []
    result = scored(
        ROWS,
        load=lambda name, device: Failing("Pelicans", how),
        keep=lambda answers: kept.extend(a.record.id for a in answers),
    )
    assert outcomes(result) == ["supported", "hallucinated", "unscored", "abstained"]
    assert "the verifier failed" in result.answers[2].evaluation.reason
    assert (result.failed, kept) == (1, ["1", "2", "4"])


def test_a_verifier_that_dies_for_good_is_not_asked_for_ever() -> None:
    calls = 0

    class Dead(TokenOverlapScorer):
        def score(self, pairs: Sequence[Pair], progress: Any = None) -> tuple[float, ...]:
            nonlocal calls
            calls += 1
            raise ModelError("the device is gone")

    rows = [{**ROWS[0], "id": str(n), "answer": f"It lasts {n} years."} for n in range(200)]
    result = scored(rows, load=lambda name, device: Dead())
    assert set(outcomes(result)) == {"unscored"} and result.failed == 200
    assert calls == FAILURES_IN_A_ROW + 1
    assert "was not called again" in result.answers[-1].evaluation.reason


def test_verdicts_are_taken_from_an_earlier_call_only_where_nothing_changed() -> None:
    first = scored(ROWS)
    known = {a.key: a.evaluation for a in first.answers}
    rows = [*ROWS[:3], {**ROWS[3], "answer": "Nobody covers pelicans."}]
    judged: list[str] = []
    again = scored(rows, known=known, keep=lambda answers: judged.extend(a.record.id for a in answers))
    assert judged == ["4"]
    assert outcomes(again)[:3] == outcomes(first)[:3]
    stricter = ScorePlan(JudgePlan(model="token-overlap", threshold=0.9))
    judged.clear()
    scored(ROWS, stricter, known=known, keep=lambda answers: judged.extend(a.record.id for a in answers))
    assert judged == ["1", "2", "3", "4"]


def test_many_systems_are_compared_with_one(tmp_path: Path) -> None:
    rows = [{**ROWS[0], "system": f"s{n}"} for n in range(6)]
    assert len(scored(rows[:4]).summary.pairs) == 6
    result = scored(rows)
    assert {p.baseline for p in result.summary.pairs} == {"s0"} and len(result.summary.pairs) == 5
    separate = scored([ROWS[0], {**ROWS[1], "system": "c"}])
    assert separate.summary.pairs == () and any("no question in common" in note for note in separate.notes)


def test_an_empty_file_has_no_score() -> None:
    from data.errors import DataError

    with pytest.raises(DataError, match="answer"):
        scored([])
    with pytest.raises(AppError, match="contexts"):
        score(AnswerFile((AnswerRecord("1", "q", "a"),), "jsonl", ()))
