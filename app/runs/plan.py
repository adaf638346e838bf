"""Plans: how many questions, samples and labels a precision target needs, from a stored run or from numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from app.errors import AppError, UsageError
from app.labelling.draws import outcome_records
from app.pipeline import Pipeline
from evaluation.correction.corrected import correct
from evaluation.correction.label_progress import progress_of
from evaluation.correction.label_store import LabelStore
from evaluation.correction.labelled_run import HALLUCINATED, LabelledRun, join_labels
from evaluation.errors import EvaluationError
from evaluation.planning.label_plan import LabelPlan, LabelSimulation, VerifierPilot, plan_labels
from evaluation.planning.pilot import PilotData, QuestionModel, fit, pilot_of, simulated_pilots, with_difference
from evaluation.planning.plan import Goal, Plan, PlanSettings, plan_model, plan_questions
from evaluation.runs.run_store import RunStore
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.verifiers.routing import excluded_from_differences

Progress = Callable[[str, int, int], None]
"""Progress callback: the current search, the number of finished searches, and their total."""
FEWEST_LABELLED = 10


@dataclass(frozen=True, slots=True)
class PrecisionTarget:
    """A target. half_width: of the interval, e.g. 0.05 for 5 points either way; detect: a difference to detect with
    ``power``.

    Exactly one of the two. samples: numbers of samples per question, each planned for.
    """

    half_width: float | None = None
    detect: float | None = None
    power: float = 0.8
    samples: tuple[int, ...] = (1, 3, 5, 8)

    def __post_init__(self) -> None:
        if (self.half_width is None) == (self.detect is None):
            raise UsageError("give the half-width or the difference to detect, one of the two", parameter="detect")
        if self.half_width is not None and not 0.0 < self.half_width < 1.0:
            raise UsageError(
                f"the half-width is {self.half_width}: it must lie between 0 and 1, e.g. 0.05 for 5 points",
                parameter="half_width",
            )
        if self.detect is not None and not 0.0 < abs(self.detect) < 1.0:
            raise UsageError(
                f"the difference to detect is {self.detect}: it must lie between 0 and 1, e.g. 0.05 for 5 points",
                parameter="detect",
            )
        if not 0.0 < self.power < 1.0:
            raise UsageError(f"the power is {self.power}: it must lie between 0 and 1, e.g. 0.8", parameter="power")
        if not self.samples or min(self.samples) < 1 or max(self.samples) > 1000:
            named = ", ".join(map(str, self.samples))
            raise UsageError(f"the numbers of samples are {named}: each must be 1 to 1000", parameter="samples")

    @property
    def goal(self) -> Goal:
        """A description of the target."""
        return "half_width" if self.detect is None else "power"

    @property
    def target(self) -> float:
        """The half-width, or the power."""
        return self.power if self.half_width is None else self.half_width


@dataclass(frozen=True, slots=True)
class Pilot:
    """The basis of a plan.

    arms: one, or two whose difference is planned. data: None if numbers were given. model: model of the question rates;
    others: alternative models that fit the data. verifier: its errors according to labels, None without labels.
    questions, samples: of the pilot, 0 if there is none. notes: assumptions.
    """

    arms: tuple[str, ...]
    model: QuestionModel
    questions: int = 0
    samples: int = 0
    data: PilotData | None = None
    verifier: VerifierPilot | None = None
    others: tuple[QuestionModel, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FullPlan:
    """The plan. questions: by number of samples. labels: None if the verifier's errors are unknown, or the target is
    power.
    """

    pilot: Pilot
    wanted: PrecisionTarget
    questions: Plan
    labels: LabelPlan | None


def pilot_of_run(pipeline: Pipeline, run_id: str, arms: Sequence[str]) -> Pilot:
    """A stored run as pilot. arms: one or two; empty: the first two of the run, or its only one.

    If the run is labelled, rates are the corrected ones, and its labels give the verifier's errors. Raises
    EvaluationError for an unknown run or arm, or a run of fewer than 5 questions.
    """
    runs = RunStore(pipeline.store)
    info = runs.load_run(run_id)
    label = info.config.decoding.label
    samples = [s for s in runs.load_samples(info.id) if s.decoding == label]
    if not samples:
        raise AppError(f"run {info.id} has no finished sample yet: run the same plumbline evaluate again")
    chosen = tuple(arms) or tuple(arm.name for arm in info.config.arms)[:2]
    records = outcome_records(samples)
    excluded = {q.id for q in runs.load_questions(info.id) if excluded_from_differences(info.config.verifier, q)}
    # These questions count in the arms' own rates, but in no difference.
    left_out = excluded if len(chosen) > 1 else set()
    table = OutcomeTable.from_records(r for r in records if r.question_id not in left_out)
    data = pilot_of(*(table.arm(arm) for arm in chosen))
    model = fit(data)
    notes = list(model.assumed)
    if info.status != "finished":
        notes.append(
            f"the run is not finished ({info.status}): the plan assumes that its questions so far are representative"
        )
    joined = _joined(pipeline, info.id, label, records, chosen)
    verifier = None
    if joined is not None:
        verifier = _verifier(joined, chosen)
        rates = {a.arm: a.hallucinated.estimate.rate for a in correct(joined).arms}
        model = replace(model, rates=tuple(_inside(rates[arm], r) for arm, r in zip(chosen, model.rates, strict=True)))
        notes.append(
            f"rates are those corrected by labels of {joined.question_index.size} questions; correlations are "
            "the verifier's"
        )
    else:
        notes.append("rates are the verifier's, without correction (plumbline label RUN)")
    each = round(float(data.samples.mean()))
    return Pilot(chosen, model, len(data.samples), each, data, verifier, (), tuple(notes))


def pilot_of_numbers(
    rates: tuple[float, ...],
    within: float,
    together: float,
    questions: int = 0,
    samples: int = 1,
    verifier: VerifierPilot | None = None,
    refits: int = 30,
    seed: int = 0,
) -> Pilot:
    """Numbers as pilot. questions, samples: of the pilot they come from; 0 if they are taken as exact.

    Raises UsageError for invalid numbers, EvaluationError for a pilot of 1 to 4 questions.
    """
    for name, value in (*(("rate", r) for r in rates), ("sample_correlation", within)):
        if not 0.0 <= value <= 1.0:
            raise UsageError(f"{name} is {value}: it must lie between 0 and 1", parameter=name)
    if not -1.0 <= together <= 1.0:
        raise UsageError(
            f"the correlation of the arms is {together}: it must lie between -1 and 1", parameter="arm_correlation"
        )
    model = QuestionModel(rates, (within,) * len(rates), together if len(rates) > 1 else 0.0)
    others = simulated_pilots(model, questions, samples, refits, seed) if questions else ()
    notes = (
        ()
        if questions
        else ("the numbers are taken as exact: without the number of pilot questions there is no range",)
    )
    return Pilot(("one", "other")[: len(rates)], model, questions, samples, None, verifier, others, notes)


def make_plan(
    pilot: Pilot,
    wanted: PrecisionTarget,
    settings: PlanSettings | None = None,
    label_questions: int | None = None,
    progress: Progress | None = None,
) -> FullPlan:
    """Compute both plans. label_questions: number of questions that labels are drawn from; by default those of the
    pilot, or of the plan.

    Raises EvaluationError if the difference to detect exceeds the possible range, UsageError for a difference with one
    arm.
    """
    settings = settings or PlanSettings()
    if wanted.detect is not None and len(pilot.arms) < 2:
        raise UsageError("a difference needs two arms: name both, or give the rates of both", parameter="detect")
    say = partial(progress, "questions") if progress else None

    def planned_for(m: QuestionModel) -> QuestionModel:
        return m if wanted.detect is None else with_difference(m, wanted.detect)

    if pilot.data is not None:
        moved = _moves(pilot)
        plan = plan_questions(
            pilot.data,
            wanted.goal,
            wanted.target,
            wanted.samples,
            settings,
            change=lambda m: _possible(m, moved, planned_for),
            progress=say,
        )
    else:
        others = [_possible(m, (), planned_for) for m in pilot.others]
        model = planned_for(pilot.model)
        plan = plan_model(model, wanted.goal, wanted.target, wanted.samples, settings, others=others, progress=say)
        plan = replace(plan, pilot_questions=pilot.questions)
    labels = None
    if pilot.verifier is not None and wanted.half_width is not None:
        samples = pilot.samples or wanted.samples[0]
        questions = label_questions or pilot.questions or plan.rows[0].questions or FEWEST_LABELLED
        simulation = LabelSimulation(
            pilot.model,
            max(questions, FEWEST_LABELLED),
            samples,
            level=settings.level,
            replicates=settings.label_replicates,
            seed=settings.seed,
        )
        labels = plan_labels(
            simulation,
            pilot.verifier,
            wanted.half_width,
            refits=settings.label_refits,
            progress=partial(progress, "labels") if progress else None,
        )
    return FullPlan(pilot, wanted, plan, labels)


def _moves(pilot: Pilot) -> tuple[float, ...]:
    """Corrections of the verifier's rates by labels; 0 without labels."""
    if pilot.data is None:
        return ()
    seen = fit(pilot.data).rates
    return tuple(r - s for r, s in zip(pilot.model.rates, seen, strict=True))


def _possible(
    model: QuestionModel, moves: Sequence[float], change: Callable[[QuestionModel], QuestionModel]
) -> QuestionModel:
    """A fitted model shifted as the labels require, then perturbed; the closest valid one if a resampled one is out of
    range.
    """
    if moves:
        rates = tuple(_inside(r + m, r) for r, m in zip(model.rates, moves, strict=True))
        model = replace(model, rates=rates)
    try:
        return change(model)
    except EvaluationError:
        return replace(model, rates=(model.rates[0], 0.001 if model.rates[0] < 0.5 else 0.999))


def _inside(rate: float | None, otherwise: float) -> float:
    return float(np.clip(otherwise if rate is None else rate, 0.001, 0.999))


def _joined(
    pipeline: Pipeline, run_id: str, decoding: str, records: Sequence[OutcomeRecord], arms: Sequence[str]
) -> LabelledRun | None:
    """The labelled questions; None if these arms have too few."""
    store = LabelStore(pipeline.store)
    stored = store.load_draw(run_id)
    if stored is None or stored.decoding != decoding or not set(arms) <= set(stored.draw.arms):
        return None
    progress = progress_of(stored, store.load(run_id, decoding))
    if progress.complete < (len(stored.draw.questions) if stored.stratified else FEWEST_LABELLED):
        return None
    part = stored.draw if stored.stratified else stored.draw.first(progress.complete)
    keys = {(q.question_id, s.arm, s.sample) for q in part.questions for s in q.samples}
    try:
        return join_labels(records, part, {k: v for k, v in progress.outcomes.items() if k in keys})
    except EvaluationError:  # the run has changed since the draw; its report explains this
        return None


def _verifier(run: LabelledRun, arms: Sequence[str]) -> VerifierPilot:
    """Error counts over all of these arms together."""
    arm_indices = [run.arm(arm) for arm in arms]
    h, f = run.labels[:, arm_indices, HALLUCINATED], run.verifier[:, arm_indices, HALLUCINATED]
    return VerifierPilot(int((h * f).sum()), int(h.sum()), int(((1.0 - h) * (1.0 - f)).sum()), int((1.0 - h).sum()))
