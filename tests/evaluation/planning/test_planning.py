"""Plans: the model fitted to a pilot, sizes that closed forms give, labels, and what cannot be planned."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.planning.label_plan import LabelSimulation, VerifierPilot, plan_labels
from evaluation.planning.pilot import PilotData, QuestionModel, fit, pilot_of
from evaluation.planning.plan import PlanSettings, plan_questions, simulate
from evaluation.statistics.counts import ArmCounts, QuestionCounts

QUICK = PlanSettings(replicates=60, refits=6)


def pilot_from(model: QuestionModel, questions: int, samples: int, seed: int = 1) -> PilotData:
    rng = np.random.default_rng(seed)
    h = [rng.binomial(samples, r[0]) for r in model.draw(rng, (1, questions))]
    return PilotData(np.stack(h, axis=1).astype(float), np.full((questions, len(h)), float(samples)))


def test_the_model_comes_back_from_a_large_pilot() -> None:
    model = QuestionModel((0.4, 0.2), (0.5, 0.3), 0.7)
    found = fit(pilot_from(model, 4000, 5))
    assert found.rates == (pytest.approx(0.4, abs=0.03), pytest.approx(0.2, abs=0.03))
    assert found.within == (pytest.approx(0.5, abs=0.05), pytest.approx(0.3, abs=0.05))
    assert found.together == pytest.approx(0.7, abs=0.08) and not found.assumed


def test_opposite_arms_stay_opposite() -> None:
    model = QuestionModel((0.5, 0.5), (0.6, 0.6), -0.8)
    assert fit(pilot_from(model, 3000, 6)).together == pytest.approx(-0.8, abs=0.1)


def test_one_sample_a_question_needs_what_a_coin_needs() -> None:
    # Rate 0.3, one sample: the normal half-width is 1.96 sqrt(0.21 / N); at 0.05, N = 323. Exact ones are a little
    # wider.
    pilot = PilotData(np.array([[1.0]] * 30 + [[0.0]] * 70), np.ones((100, 1)))
    plan = plan_questions(pilot, "half_width", 0.05, [1, 8], QUICK)
    one, eight = plan.rows
    assert one.questions is not None and 315 <= one.questions <= 355
    assert one.lower is not None and one.upper is not None and one.lower <= one.questions <= one.upper
    assert eight.questions is not None and eight.questions < one.questions  # correlation assumed to be 0.5
    assert "assumed 0.5" in plan.model.assumed[0]


def test_samples_of_one_mind_save_no_questions() -> None:
    model = QuestionModel((0.3,), (1.0,), 0.0)
    one, eight = (simulate(model, 200, n, QUICK).half_width for n in (1, 8))
    assert eight == pytest.approx(one, rel=0.03)


def test_power_is_that_of_mcnemar() -> None:
    # Always alike but for 15 % fixed: N whose exact limits leave out 0 at power 0.8 is about 8 fixed questions / 0.15.
    pilot = PilotData(np.array([[1.0, 0.0]] * 15 + [[0.0, 0.0]] * 85), np.ones((100, 2)))
    plan = plan_questions(pilot, "power", 0.8, [1], PlanSettings(replicates=100, refits=4, within_if_unknown=1.0))
    row = plan.rows[0]
    assert row.questions is not None and 35 <= row.questions <= 80
    assert plan.expected == pytest.approx(0.15, abs=0.01)


def test_what_cannot_be_reached_is_none() -> None:
    pilot = PilotData(np.array([[1.0, 1.0], [0.0, 0.0]] * 20), np.ones((40, 2)))
    assert plan_questions(pilot, "power", 0.8, [1], PlanSettings(replicates=20, refits=1)).rows[0].questions is None
    one = PilotData(np.array([[1.0], [0.0]] * 20), np.ones((40, 1)))
    assert plan_questions(one, "half_width", 0.0005, [1], PlanSettings(replicates=20, refits=1)).rows[0].upper is None


def test_labels_fall_with_a_better_verifier() -> None:
    model = QuestionModel((0.3,), (0.5,), 0.0)
    good, poor = VerifierPilot(38, 40, 38, 40), VerifierPilot(28, 40, 28, 40)
    simulation = LabelSimulation(model, 400, 4, replicates=20, seed=1)
    widths = [simulation.half_width(v.middle, 150) for v in (good, poor)]
    assert widths[0] < widths[1]
    simulation = LabelSimulation(model, 300, 4, replicates=10)
    plan = plan_labels(simulation, good, 0.09, refits=3)
    assert plan.labels is not None and 10 < plan.labels < 300 and plan.half_width_all < 0.09
    assert simulation.half_width(good.middle, plan.labels) <= 0.09
    assert plan_labels(LabelSimulation(model, 100, 2, replicates=5), poor, 0.01, refits=2).labels is None


def test_a_pilot_is_read_from_counts_on_shared_questions() -> None:
    one = ArmCounts("a", tuple(QuestionCounts(f"q{i}", (i % 3, 3 - i % 3, 0, 0)) for i in range(8)))
    two = ArmCounts("b", tuple(QuestionCounts(f"q{i}", (0, 2, 1, 0)) for i in range(2, 9)))
    pilot = pilot_of(one, two)
    assert pilot.samples.shape == (6, 2) and pilot.hallucinated[0].tolist() == [2.0, 0.0]
    assert fit(pilot).rates[1] == pytest.approx(0.5 / 7) and "one outcome" in " ".join(fit(pilot).assumed)
    assert pilot_of(one).samples.shape == (8, 1)


def test_bad_plans_are_refused() -> None:
    pilot = PilotData(np.zeros((10, 1)), np.ones((10, 1)))
    with pytest.raises(ValueError, match="two arms"):
        plan_questions(pilot, "power", 0.8)
    with pytest.raises(ValueError, match=r"target.* 1\b"):
        plan_questions(pilot, "half_width", 1.0)
    with pytest.raises(ValueError, match="at least 1"):
        plan_questions(pilot, "half_width", 0.1, [0])
    with pytest.raises(EvaluationError, match="at least 5"):
        PilotData(np.zeros((4, 1)), np.ones((4, 1)))
    with pytest.raises(ValueError, match="hallucinated"):
        PilotData(np.full((10, 1), 2.0), np.ones((10, 1)))
    with pytest.raises(ValueError, match="exceeds"):
        VerifierPilot(3, 2, 1, 1)
    with pytest.raises(ValueError, match="at least 10"):
        LabelSimulation(QuestionModel((0.3,), (0.5,), 0.0), 5, 1)
    with pytest.raises(ValueError, match="target 1"):
        plan_labels(LabelSimulation(QuestionModel((0.3,), (0.5,), 0.0), 10, 1), VerifierPilot(1, 1, 1, 1), 1.0)
