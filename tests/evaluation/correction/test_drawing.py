"""Draws of responses to label: sizes, probabilities, randomness, and invalid requests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation.correction.sampling import allocate, draw_labels, drawn_items, strata_by_verdict
from evaluation.errors import EvaluationError
from evaluation.outcomes import Outcome
from evaluation.statistics.counts import OutcomeRecord


def run(questions: int, samples: int = 3, arms: tuple[str, ...] = ("closed_book", "rag")) -> list[OutcomeRecord]:
    kinds: tuple[Outcome, ...] = ("hallucinated", "supported", "abstained")
    return [
        OutcomeRecord(f"q{q:03d}", arm, s, kinds[(q % 5) % 3] if q % 5 == 0 else "supported")
        for q in range(questions)
        for arm in arms
        for s in range(samples)
    ]


def test_one_sample_an_arm_with_its_probability() -> None:
    draw = draw_labels(run(40), ("closed_book", "rag"), 10, seed=1)
    assert draw.population == 40 and len({q.question_id for q in draw.questions}) == 10
    for question in draw.questions:
        assert question.probability == 0.25
        assert [s.arm for s in question.samples] == ["closed_book", "rag"]
        assert all(s.probability == pytest.approx(1 / 3) and s.sample in (0, 1, 2) for s in question.samples)
    assert len(drawn_items(draw)) == 20


def test_a_draw_depends_on_its_seed_and_not_on_the_order_of_the_records() -> None:
    records = run(40)
    assert draw_labels(records, ("rag",), 10, 1) == draw_labels(records[::-1], ("rag",), 10, 1)
    assert draw_labels(records, ("rag",), 10, 1) != draw_labels(records, ("rag",), 10, 2)


def test_every_question_and_sample_is_as_likely_as_another() -> None:
    records, hits = run(10), np.zeros((10, 3))
    for seed in range(600):
        for q in draw_labels(records, ("rag",), 4, seed).questions:
            hits[int(q.question_id[1:]), q.samples[0].sample] += 1
    # 2,400 labels over 30 cells, 80 expected in each with standard deviation 8.7 (9.4 for a question's total of 240
    # draws, 12). The bound is five of them, so a false alarm has probability of about 30 * 6e-7.
    assert np.all(np.abs(hits - 80) < 44) and np.all(np.abs(hits.sum(axis=1) - 240) < 60)


def test_strata_are_filled_in_proportion_or_equally_and_probabilities_kept() -> None:
    records = run(50)
    strata = strata_by_verdict(records)
    assert sorted(set(strata.values())) == ["clear", "flagged"]
    equal = draw_labels(records, ("rag",), 12, 3, strata, "equal")
    assert {s.name: (s.questions, s.drawn) for s in equal.strata} == {"clear": (40, 6), "flagged": (10, 6)}
    for q in equal.questions:
        assert q.probability == {"clear": 6 / 40, "flagged": 6 / 10}[q.stratum] and strata[q.question_id] == q.stratum
    proportional = draw_labels(records, ("rag",), 10, 3, strata)
    assert {s.name: s.drawn for s in proportional.strata} == {"clear": 8, "flagged": 2}
    assert len(equal.members) == 50


def test_allocation_never_takes_more_than_there_is_nor_fewer_than_two() -> None:
    assert allocate({"a": 3, "b": 100}, 50, "equal") == {"a": 3, "b": 47}
    assert allocate({"a": 1, "b": 1000}, 10, "proportional") == {"a": 1, "b": 9}
    assert allocate({"a": 5, "b": 1000}, 10, "proportional") == {"a": 2, "b": 8}
    with pytest.raises(EvaluationError, match="at least 6"):
        allocate({"a": 5, "b": 5, "c": 5}, 5, "equal")


def test_the_first_of_a_draw_are_a_draw() -> None:
    draw = draw_labels(run(40), ("rag",), 10, 1)
    short = draw.first(4)
    assert short.questions[0].probability == 0.1 and short.strata[0].drawn == 4
    with pytest.raises(EvaluationError, match="1 to 10"):
        draw.first(11)
    records = run(40)
    with pytest.raises(EvaluationError, match="stratified"):
        draw_labels(records, ("rag",), 10, 1, strata_by_verdict(records)).first(4)


def test_a_question_without_one_of_the_arms_is_left_out_and_counted() -> None:
    records = [r for r in run(10) if not (r.arm == "rag" and r.question_id == "q003")]
    draw = draw_labels(records, ("closed_book", "rag"), 9, 1)
    assert draw.left_out == 1 and "q003" not in {q.question_id for q in draw.questions}


@pytest.mark.parametrize(
    ("arms", "questions", "message"),
    [
        (("closed_book", "nope"), 5, "'nope'.*closed_book, rag"),
        (("rag",), 41, "2 to 40"),
        (("rag",), 1, "2 to 40"),
        ((), 5, "at least one"),
        (("rag", "rag"), 5, "each once"),
    ],
)
def test_what_cannot_be_drawn_says_why(arms: tuple[str, ...], questions: int, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        draw_labels(run(40), arms, questions, 1)


def test_a_question_needs_a_stratum_and_a_sample_counts_once() -> None:
    with pytest.raises(EvaluationError, match="stratum"):
        draw_labels(run(10), ("rag",), 4, 1, {"q000": "a"})
    with pytest.raises(EvaluationError, match="twice"):
        draw_labels([*run(3), *run(3)], ("rag",), 3, 1)


@pytest.mark.parametrize("available", [0, 1])
def test_a_run_with_too_few_questions_names_no_impossible_range(available: int) -> None:
    records = [r for r in run(1) if available or r.arm != "rag"] + run(1, arms=("rag",))[: 1 - available]
    if not available:
        records = [replace(r, question_id="other") if r.arm == "rag" else r for r in records]
    with pytest.raises(EvaluationError, match="needs at least 2: evaluate more questions"):
        draw_labels(records, ("closed_book", "rag"), 2, 1)
