"""Plan the number of questions for a target interval width or power, by simulation of the planned analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special

from evaluation.planning.pilot import PilotData, QuestionModel, fit, resampled
from evaluation.statistics.intervals import effective_limits
from evaluation.statistics.paired import fixed_minus_broken_limits

Goal = Literal["half_width", "power"]
MOST_QUESTIONS = 20_000
_FEWEST = 5
_CELLS = 2_000_000  # maximum number of question rates in memory at a time
_STEPS = 6


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """Settings of a plan.

    level: level of the interval.
    replicates: number of simulated runs per step.
    refits: number of resampled pilots, for the uncertainty.
    within_if_unknown: intra-question correlation to assume if the pilot cannot determine it.
    label_replicates, label_refits: replicates and refits for the number of labels, whose steps take longer.
    """

    level: float = 0.95
    replicates: int = 200
    refits: int = 30
    seed: int = 0
    within_if_unknown: float = 0.5
    label_replicates: int = 40
    label_refits: int = 10

    def __post_init__(self) -> None:
        if not 0.0 < self.level < 1.0 or not 0.0 <= self.within_if_unknown <= 1.0:
            raise ValueError(f"level {self.level}, correlation {self.within_if_unknown}: both must lie between 0 and 1")
        if self.replicates < 20 or self.refits < 1 or self.seed < 0:
            raise ValueError(f"replicates {self.replicates}, refits {self.refits}: at least 20 and 1 are needed")
        if self.label_replicates < 1 or self.label_refits < 1:
            raise ValueError(f"label_replicates {self.label_replicates}, label_refits {self.label_refits}: at least 1")


@dataclass(frozen=True, slots=True)
class PlanRow:
    """Number of questions needed with a given number of samples each.

    questions: None if more than 20,000 are needed.
    lower, upper: middle 80 % over resampled pilots, which shows the uncertainty due to the pilot; None above 20,000.
    responses: questions x samples, in one arm.
    """

    samples: int
    questions: int | None
    lower: int | None
    upper: int | None
    responses: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan for the number of questions.

    goal, target: the requested kind of target and its value.
    difference: whether two arms are compared.
    pilot_questions: number of questions of the pilot; 0 if numbers are given in place of a pilot.
    expected: the planned rate or difference.
    model: the simulated model.
    rows: one row per number of samples.
    ranges: whether the rows' lower and upper are known. They are unknown for numbers without a pilot size.
    """

    goal: Goal
    target: float
    level: float
    difference: bool
    pilot_questions: int
    expected: float
    model: QuestionModel
    rows: tuple[PlanRow, ...]
    ranges: bool = True


@dataclass(frozen=True, slots=True)
class SimulatedPlan:
    """Result for a number of questions.

    half_width: mean half-width of the default interval. power: share of the simulated runs in which it excludes 0.
    """

    half_width: float
    power: float


def plan_questions(
    pilot: PilotData,
    goal: Goal,
    target: float,
    samples: Sequence[int] = (1, 3, 5, 8),
    settings: PlanSettings | None = None,
    *,
    change: Callable[[QuestionModel], QuestionModel] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Plan:
    """Plan the number of questions for a mean half-width or a power of ``target``, for each number of samples.

    samples: numbers of samples per question.
    change: maps the fitted model to the model to plan for, for example with another difference. It is also applied to
        every resampled pilot.
    progress: called with (done, total) searches.

    With one arm in the pilot the plan is for its rate, with two for their difference. Power is the probability that the
    interval of the difference excludes 0 if the arms differ as in the pilot. Raises ValueError for power with one arm.
    """
    settings = settings or PlanSettings()
    rng = np.random.default_rng([settings.seed, len(pilot.samples), settings.refits])
    fitted = [fit(pilot, settings.within_if_unknown)]
    fitted += [fit(resampled(pilot, rng), settings.within_if_unknown) for _ in range(settings.refits)]
    model, *others = [change(m) for m in fitted] if change else fitted
    plan = plan_model(model, goal, target, samples, settings, others=others, progress=progress)
    return replace(plan, pilot_questions=len(pilot.samples))


def plan_model(
    model: QuestionModel,
    goal: Goal,
    target: float,
    samples: Sequence[int] = (1, 3, 5, 8),
    settings: PlanSettings | None = None,
    *,
    others: Sequence[QuestionModel] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Plan:
    """Plan the number of questions as ``plan_questions`` does, for a known model.

    others: alternative models, for the ranges.

    Raises ValueError for a target outside (0, 1), no samples, or power with one arm.
    """
    settings = settings or PlanSettings()
    arms = len(model.rates)
    if goal not in ("half_width", "power"):
        raise ValueError(f"goal is {goal!r}: it must be half_width or power")
    if not 0.0 < target < 1.0:
        raise ValueError(f"target is {target}: it must lie strictly between 0 and 1")
    if goal == "power" and arms < 2:
        raise ValueError("power is defined only for a difference: give a pilot with two arms")
    if not samples or min(samples) < 1:
        raise ValueError(f"samples are {list(samples)}: each number must be at least 1")
    total, done = len(samples) * (1 + len(others)), 0

    def needed(m: QuestionModel, n: int) -> int | None:
        nonlocal done
        found = questions_needed(m, goal, target, n, settings)
        done += 1
        if progress is not None:
            progress(done, total)
        return found

    rows = []
    for n in samples:
        questions = needed(model, n)
        low = high = None
        if others:
            estimates = sorted(needed(m, n) or MOST_QUESTIONS + 1 for m in others)
            low, high = (_known(estimates[int(q * (len(estimates) - 1) + 0.5)]) for q in (0.1, 0.9))
        rows.append(PlanRow(n, questions, low, high, None if questions is None else questions * n))
    expected = model.rates[0] - (model.rates[1] if arms > 1 else 0.0)
    return Plan(goal, target, settings.level, arms > 1, 0, expected, model, tuple(rows), bool(others))


def questions_needed(
    model: QuestionModel, goal: Goal, target: float, samples: int, settings: PlanSettings
) -> int | None:
    """Return the smallest number of questions that reaches the target in simulation, up to Monte Carlo error.

    Returns None if more than 20,000 are needed.
    """

    def reached(questions: int) -> SimulatedPlan:
        return simulate(model, questions, samples, settings)

    return search_half_width(reached, target) if goal == "half_width" else search_power(reached, target, settings)


def search_half_width(reached: Callable[[int], SimulatedPlan], target: float, start: int = 100) -> int | None:
    """Return the number of questions for a half-width of ``target``; None beyond 20,000.

    reached: simulates a number of questions.

    Half-widths decrease like 1 / sqrt(N) for large N, so the search iterates N -> N (w / target)^2 until it converges.
    """
    questions = start
    for _ in range(_STEPS):
        width = reached(questions).half_width
        found = int(np.clip(np.ceil(questions * (width / target) ** 2), _FEWEST, MOST_QUESTIONS + 1))
        if abs(found - questions) <= 0.01 * questions:
            return _known(found)
        if found > MOST_QUESTIONS and questions >= MOST_QUESTIONS:
            return None
        questions = min(found, MOST_QUESTIONS)
    return _known(questions)


def search_power(reached: Callable[[int], SimulatedPlan], target: float, settings: PlanSettings) -> int | None:
    """Return the number of questions for a power of ``target``; None beyond 20,000.

    reached: simulates a number of questions.

    Power is about Phi(d sqrt(N) - z), so each iteration estimates d from the power at N and computes the N for it.
    """
    z = float(special.ndtri(1.0 - (1.0 - settings.level) / 2.0))
    floor = 0.5 / settings.replicates
    questions = 100
    for _ in range(_STEPS):
        power = float(np.clip(reached(questions).power, floor, 1.0 - floor))
        signal = float(special.ndtri(power)) + z
        if signal <= 0.05:  # the power is not above chance: try many more questions
            found = questions * 10
        else:
            found = int(np.ceil(questions * ((float(special.ndtri(target)) + z) / signal) ** 2))
        found = int(np.clip(found, _FEWEST, MOST_QUESTIONS + 1))
        if abs(found - questions) <= 0.02 * questions:
            return _known(found)
        if found > MOST_QUESTIONS and questions >= MOST_QUESTIONS:
            return None
        questions = min(found, MOST_QUESTIONS)
    return _known(questions)


def simulate(model: QuestionModel, questions: int, samples: int, settings: PlanSettings) -> SimulatedPlan:
    """Simulate runs of the planned size and their default intervals (docs/statistics.md, sections 2 and 4)."""
    rng = np.random.default_rng([settings.seed, questions, samples])
    step = max(1, _CELLS // questions)
    # Large runs differ little from each other, so fewer of them are enough.
    replicates = settings.replicates if questions <= 2000 else max(20, settings.replicates // 4)
    widths, excludes = [], []
    for start in range(0, replicates, step):
        shape = (min(step, replicates - start), questions)
        shares = [rng.binomial(samples, rates) / samples for rates in model.draw(rng, shape)]
        ones = np.ones(shape)
        if len(shares) == 1:
            limits = effective_limits(shares[0], ones, float(questions * samples), settings.level)
            lower, upper = limits.lower, limits.upper
        else:
            one, two = shares
            difference = fixed_minus_broken_limits(
                one * (1 - two), two * (1 - one), ones, float(questions * samples), settings.level
            )
            lower, upper = difference.lower, difference.upper
        widths.append((upper - lower) / 2.0)
        excludes.append((lower > 0) | (upper < 0))
    return SimulatedPlan(float(np.concatenate(widths).mean()), float(np.concatenate(excludes).mean()))


def _known(questions: int) -> int | None:
    return None if questions > MOST_QUESTIONS else questions
