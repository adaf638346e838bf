"""``plumbline plan``: from a labelled run, from numbers, and invalid requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from app.labelling.draws import DrawRequest, open_draw
from app.labelling.sessions import LabelSession
from app.pipeline import Pipeline
from app.runs.plan import Pilot, PrecisionTarget, make_plan, pilot_of_numbers, pilot_of_run
from evaluation.errors import EvaluationError
from evaluation.planning.plan import PlanSettings

QUICK = PlanSettings(replicates=20, refits=2, label_replicates=4, label_refits=2)
Run = Callable[..., Any]


def labelled(world: Any, read_truth: Any, questions: int) -> str:
    run_id = str(world.store())
    with Pipeline(world.settings()) as pipeline:
        session = LabelSession(pipeline.store, open_draw(pipeline, run_id, DrawRequest(questions)), "me")
        for item in session.items:
            session.label(item, read_truth(item.answer))
    return run_id


def test_numbers_need_what_a_coin_needs() -> None:
    # 1.96 sqrt(0.16 / N) is 0.05 at N = 246; the exact interval is a little wider.
    plan = make_plan(pilot_of_numbers((0.2,), 1.0, 0.0), PrecisionTarget(0.05, samples=(1,)), QUICK)
    (row,) = plan.questions.rows
    assert row.questions is not None and 240 <= row.questions <= 290
    assert (plan.questions.ranges, row.lower, plan.labels) == (False, None, None)
    assert "taken as exact" in plan.pilot.notes[0]


def test_a_pilots_size_gives_a_range_and_a_larger_one_a_narrower(world: Any) -> None:
    settings = PlanSettings(replicates=20, refits=8)

    def spread(questions: int) -> int:
        pilot = pilot_of_numbers((0.2,), 0.5, 0.0, questions, 3, refits=8)
        (row,) = make_plan(pilot, PrecisionTarget(0.05, samples=(3,)), settings).questions.rows
        assert row.lower is not None and row.upper is not None
        return row.upper - row.lower

    assert 0 < spread(2000) < spread(20)


def test_a_difference_to_detect_moves_the_second_arm() -> None:
    pilot = pilot_of_numbers((0.4, 0.4), 0.5, 0.5)
    small, large = (make_plan(pilot, PrecisionTarget(detect=d, samples=(2,)), QUICK).questions for d in (0.1, 0.25))
    assert small.expected == pytest.approx(0.1) and large.model.rates == (0.4, pytest.approx(0.15))
    assert small.rows[0].questions is not None and large.rows[0].questions is not None
    assert large.rows[0].questions < small.rows[0].questions
    with pytest.raises(EvaluationError, match=r"0\.5"):
        make_plan(pilot, PrecisionTarget(detect=0.5, samples=(2,)), QUICK)


def test_a_labelled_run_plans_with_corrected_rates_and_says_how_many_labels(world: Any, read_truth: Any) -> None:
    run_id = labelled(world, read_truth, 80)
    with Pipeline(world.settings()) as pipeline:
        pilot = pilot_of_run(pipeline, run_id, ("closed_book",))
        assert pilot_of_run(pipeline, run_id, ()).arms == ("closed_book", "rag")
        with pytest.raises(EvaluationError, match="oracle"):
            pilot_of_run(pipeline, run_id, ("oracle",))
    assert pilot.verifier is not None and pilot.verifier.positives + pilot.verifier.negatives == 80
    assert any("corrected by labels of 80 questions" in note for note in pilot.notes)
    plan = make_plan(pilot, PrecisionTarget(0.12, samples=(2,)), QUICK, label_questions=200)
    assert plan.labels is not None and plan.labels.questions == 200
    assert plan.labels.labels is not None and 10 <= plan.labels.labels <= 200
    assert plan.questions.ranges and plan.questions.pilot_questions == 120


def test_the_command_prints_a_table_or_json_and_nothing_else_on_stdout(plumbline: Run, world: Any) -> None:
    ask = ("plan", "--rate", "0.3", "--within", "1", "--half-width", "0.1", "--samples", "1")
    shown = plumbline(*ask)
    assert shown.code == 0 and "target: a 95 % interval of about ±10 points" in shown.out
    assert "no plan for labels" in shown.err
    found = json.loads(plumbline(*ask, "--json").out)
    assert found["plan"]["rows"][0]["questions"] > 70 and found["labels"] is None


def test_an_unlabelled_run_says_that_nothing_corrects_its_rates(world: Any) -> None:
    run_id = world.store()
    with Pipeline(world.settings()) as pipeline:
        pilot: Pilot = pilot_of_run(pipeline, run_id, ("rag",))
    assert pilot.verifier is None and "the verifier's, without correction" in pilot.notes[-1]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), "RUN"),
        (("--rate", "1.5"), "--rate 1.5"),
        (("--rate", "0.2", "--within", "-1"), "--within -1"),
        (("--rate", "0.2", "--half-width", "0"), "--half-width 0"),
        (("--rate", "0.2", "--half-width", "0.1", "--detect", "0.1"), "--detect"),
        (("--rate", "0.2", "--samples", "1,x"), "--samples 1,x"),
        (("--rate", "0.2", "--samples", "0"), "--samples 0"),
        (("--rate", "0.2", "--level", "1"), "--level 1"),
        (("--rate", "0.2", "--caught", "9/5", "--passed", "1/2"), "--caught 9/5"),
        (("--rate", "0.2", "--caught", "9/10"), "--passed"),
        (("--rate", "0.2", "--arms", "rag"), "--arms"),
        (("nothere", "--rate", "0.2"), "RUN --rate"),
        (("nothere", "--arms", "a,b,c"), "arm"),
    ],
)
def test_numbers_that_cannot_be(plumbline: Run, options: tuple[str, ...], expected: str) -> None:
    found = plumbline("plan", *options)
    assert found.code == 2 and all(word in found.err for word in expected.split()) and not found.out
