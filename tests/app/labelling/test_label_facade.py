"""Labels, plans and corrected rates from Python, as in the docstring of plumbline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import plumbline as api
from app.errors import AppError, UsageError
from evaluation.errors import EvaluationError
from evaluation.planning.plan import PlanSettings


def test_a_script_labels_reads_corrected_rates_and_plans(world: Any, read_truth: Callable[[str], Any]) -> None:
    run = world.store()
    with api.open(world.settings()) as pipeline:
        assert api.figures(pipeline, run).corrected is None
        session = api.label(pipeline, run[:6], annotator="ann", questions=40)
        assert len(session.items) == 80  # one answer of each of two arms
        for item in session.items:
            assert "rag" not in item.id and item.question.startswith("What is")
            session.label(item, read_truth(item.answer))
        found = api.figures(pipeline, run)
        assert found.id == run
        assert found.corrected is not None and found.corrected.run is not None
        assert (found.corrected.used, found.corrected.wanted) == (40, 40)
        seen = {arm.arm: arm.hallucinated.default for arm in found.summary.arms}
        for arm in found.corrected.run.arms:
            uncorrected, estimate = arm.hallucinated.uncorrected, arm.hallucinated.estimate
            assert uncorrected.rate == pytest.approx(seen[arm.arm].rate)
            assert estimate.lower is not None and estimate.upper is not None
            assert 0 < estimate.lower <= (estimate.rate or 0) <= estimate.upper < 1
        quick = PlanSettings(replicates=20, refits=2, label_replicates=4, label_refits=2)
        plan = api.plan(pipeline, run, half_width=0.08, samples=(1, 3), settings=quick)
        assert [row.samples for row in plan.questions.rows] == [1, 3]
        assert all(row.questions for row in plan.questions.rows)
        assert plan.labels is not None and plan.pilot.arms == ("closed_book", "rag")
        # A second person sees the same answers in the same order, and nobody's labels but their own.
        other = api.label(pipeline, run, annotator="ben")
        assert [i.id for i in other.items] == [i.id for i in session.items] and not other.own()


def test_what_cannot_be_is_refused_in_words(world: Any) -> None:
    run = world.store()
    with api.open(world.settings()) as pipeline:
        with pytest.raises(EvaluationError, match="ffffffff"):
            api.figures(pipeline, "ffffffff")
        with pytest.raises(EvaluationError, match="121"):
            api.label(pipeline, run, annotator="ann", questions=121)
        with pytest.raises(UsageError, match="half-width"):
            api.plan(pipeline, run)
        with pytest.raises(EvaluationError, match="psychic"):
            api.plan(pipeline, run, half_width=0.1, arms=("psychic",))
        session = api.label(pipeline, run, annotator="ann", questions=10)
        with pytest.raises(EvaluationError, match="perhaps"):
            session.label(session.items[0], "perhaps")  # type: ignore[arg-type]


def test_an_unfinished_run_is_not_labelled(world: Any) -> None:
    run = world.store(status="interrupted")
    with api.open(world.settings()) as pipeline, pytest.raises(AppError, match="not finished"):
        api.label(pipeline, run, annotator="ann")
