"""Plan the number of questions, samples and labels for a precision target, from a stored run or from numbers."""

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
    """The precision that a plan must reach. Exactly one of half_width and detect is given.

    half_width: half-width of the confidence interval, e.g. 0.05 for 5 percentage points either way. detect: difference
    between two arms to detect with probability ``power``. samples: numbers of samples per question; the plan has a row
    for each. Raises UsageError for invalid values.
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
        """The kind of target: a half-width or a power."""
        return "half_width" if self.detect is None else "power"

    @property
    def target(self) -> float:
        """The target value: the half-width or the power."""
        return self.power if self.half_width is None else self.half_width


@dataclass(frozen=True, slots=True)
class Pilot:
    """The basis of a plan.

    arms: names of one arm, or of two arms whose difference is planned. model: model of the question rates. questions,
    samples: numbers of questions, and of samples per question, of the pilot; 0 if there is none. data: outcomes of the
    pilot; None if numbers were given. verifier: error counts of the verifier by labels; None without labels. others:
    alternative models that fit the data. notes: assumptions, for the reader.
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
    """A plan of questions and labels. wanted: the target.

    questions: numbers of questions for each number of samples. labels: number of labels; None if the verifier's errors
    are unknown or the target is a power.
    """

    pilot: Pilot
    wanted: PrecisionTarget
    questions: Plan
    labels: LabelPlan | None


def pilot_of_run(pipeline: Pipeline, run_id: str, arms: Sequence[str]) -> Pilot:
    """Return a stored run as a pilot. arms: names of one or two arms; if empty, the first two arms of the run.

    If the run is labelled, the rates are corrected, and the labels give the verifier's errors. Raises EvaluationError
    for an unknown run or arm and for a run of fewer than 5 questions, AppError for a run without a finished sample.
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
    """Return a pilot from given rates and correlations.

    rates: hallucination rate of one or two arms. within: correlation of the samples of a question. together:
    correlation of the two arms. questions, samples: size of the pilot that gave the numbers; questions 0 takes them as
    exact. verifier: error counts of the verifier, if known. refits: number of simulated pilots.

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
    """Compute the plan of questions and, if the verifier's errors are known, of labels.

    label_questions: number of questions that labels are drawn from; by default that of the pilot, or of the plan.
    Raises EvaluationError if the difference to detect is outside the possible range, UsageError for a difference with
    one arm.
    """
    settings = settings or PlanSettings()
    if wanted.detect is not None and len(pilot.arms) < 2:
        raise UsageError("a difference needs two arms: name both, or give the rates of both", parameter="detect")
    notify = partial(progress, "questions") if progress else None

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
            progress=notify,
        )
    else:
        others = [_possible(m, (), planned_for) for m in pilot.others]
        model = planned_for(pilot.model)
        plan = plan_model(model, wanted.goal, wanted.target, wanted.samples, settings, others=others, progress=notify)
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
    """Return the difference between the rate of the pilot's model and the verifier's rate, for each arm.

    The difference is 0 without labels. Returns an empty tuple for a pilot from numbers.
    """
    if pilot.data is None:
        return ()
    seen = fit(pilot.data).rates
    return tuple(r - s for r, s in zip(pilot.model.rates, seen, strict=True))


def _possible(
    model: QuestionModel, moves: Sequence[float], change: Callable[[QuestionModel], QuestionModel]
) -> QuestionModel:
    """Return ``change`` of the model after adding ``moves`` to its rates.

    If the change is impossible for these rates, returns the model with the second rate at a limit of its range.
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
    """Return the labelled questions of these arms; None if there are too few."""
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
    """Return the verifier's error counts, summed over these arms."""
    arm_indices = [run.arm(arm) for arm in arms]
    h, f = run.labels[:, arm_indices, HALLUCINATED], run.verifier[:, arm_indices, HALLUCINATED]
    return VerifierPilot(int((h * f).sum()), int(h.sum()), int(((1.0 - h) * (1.0 - f)).sum()), int((1.0 - h).sum()))
