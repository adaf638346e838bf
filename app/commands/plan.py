"""Compute how many questions, samples and labels are needed for a given precision or detectable difference.

The plan starts from a pilot RUN or from numbers. A RUN provides its rates, the correlations of samples and of arms, and
the verifier's errors according to its labels. Numbers are --rate, --other-rate, --sample-correlation and
--arm-correlation. The planned analysis is simulated with growing sizes until it meets the target. A range covers 80 of
100 pilots of the same size.

With --alpha the command computes the number of labels for a certificate of ``plumbline calibrate``, exactly and without
simulation.
"""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from app.commands.options import add_seed
from app.commands.parser import renamed
from app.console import Output
from app.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from app.runs.plan import FullPlan, Pilot
    from evaluation.planning.label_plan import LabelPlan, VerifierPilot
    from evaluation.planning.plan import PlanRow

_COUNTS = re.compile(r"(\d{1,7})/(\d{1,7})")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run_id", nargs="?", metavar="RUN", help="pilot run (default: plan from the numbers below)")
    goal = parser.add_argument_group("target (default --half-width 0.05)")
    goal.add_argument(
        "--half-width", type=float, metavar="W", help="half-width of the interval: 0.05 is 5 points either way"
    )
    goal.add_argument("--detect", type=float, metavar="D", help="difference of two arms to detect, e.g. 0.05")
    goal.add_argument("--power", type=float, default=0.8, help="probability of detecting it (default 0.8)")
    goal.add_argument(
        "--samples", default="1,3,5,8", help="numbers of samples per question to plan for (default 1,3,5,8)"
    )
    goal.add_argument("--level", type=float, default=0.95, help="confidence level of the interval (default 0.95)")
    pilot = parser.add_argument_group("pilot")
    pilot.add_argument(
        "--arms",
        metavar="ARMS",
        help="one arm to plan its rate, or two arms to plan their difference (default: the first two)",
    )
    pilot.add_argument("--rate", type=float, help="without RUN: share of hallucinated responses, e.g. 0.2")
    pilot.add_argument("--other-rate", type=float, help="rate of a second arm, to plan the difference")
    within = pilot.add_argument(
        "--sample-correlation",
        dest="within",
        type=float,
        default=0.5,
        metavar="R",
        help="correlation of the samples of a question, 0 to 1 (default 0.5)",
    )
    renamed(pilot, "--within", within)
    between = pilot.add_argument(
        "--arm-correlation",
        dest="together",
        type=float,
        default=0.5,
        metavar="R",
        help="correlation of the arms' rates over questions, -1 to 1 (default 0.5)",
    )
    renamed(pilot, "--together", between)
    pilot.add_argument(
        "--pilot-questions", type=int, default=0, metavar="N", help="number of questions behind the given numbers"
    )
    labels = parser.add_argument_group("labels (a labelled RUN provides both)")
    labels.add_argument(
        "--caught", metavar="X/Y", help="the verifier flagged X of Y answers that people labelled hallucinated"
    )
    labels.add_argument("--passed", metavar="X/Y", help="the verifier did not flag X of the Y other answers")
    labels.add_argument("--questions", type=int, metavar="N", help="number of questions from which labels are drawn")
    certificate = parser.add_argument_group("labels for a certificate (instead of a plan for a run)")
    certificate.add_argument(
        "--alpha",
        type=float,
        action="append",
        default=[],
        help="largest hallucination rate among answers, e.g. 0.1; repeatable",
    )
    certificate.add_argument(
        "--delta", type=float, default=0.05, help="probability of a wrong certificate (default 0.05)"
    )
    certificate.add_argument(
        "--answer-rate", type=float, default=0.5, help="share of questions above the first threshold (default 0.5)"
    )
    add_seed(parser, "seed of the simulation")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Compute and print the plan."""
    if arguments.alpha:
        from app.commands.plan_certificate import plan_certificate

        return plan_certificate(arguments, output)
    from dataclasses import replace

    from app.commands.options import open_pipeline
    from app.runs.plan import PrecisionTarget, make_plan, pilot_of_run
    from evaluation.planning.plan import PlanSettings

    half_width = arguments.half_width
    if half_width is None and arguments.detect is None:
        half_width = 0.05
    target = PrecisionTarget(half_width, arguments.detect, arguments.power, _samples(arguments.samples))
    _check(arguments)
    verifier = _verifier(arguments)
    if arguments.run_id is None:
        pilot = _numbers(arguments, verifier)
    else:
        arms = tuple(arm.strip() for arm in arguments.arms.split(",")) if arguments.arms else ()
        if len(arms) > 2:
            raise UsageError(f"--arms {arguments.arms}: name one arm, or two to plan their difference")
        with open_pipeline(arguments) as pipeline:
            pilot = pilot_of_run(pipeline, arguments.run_id, arms)
        pilot = replace(pilot, verifier=verifier or pilot.verifier)
    settings = PlanSettings(level=arguments.level, seed=arguments.seed)
    with output.progress() as bar:
        plan = make_plan(
            pilot, target, settings, arguments.questions, lambda what, done, total: bar.update(what, done, total)
        )
    if output.as_json:
        output.json(plan_json(plan))
    else:
        _show(plan, output)
    return EXIT_OK


def _check(arguments: argparse.Namespace) -> None:
    if not 0.0 < arguments.level < 1.0:
        raise UsageError(f"--level is {arguments.level}: it must lie strictly between 0 and 1, e.g. 0.95")
    for name, least in (("seed", 0), ("pilot_questions", 0), ("questions", 10)):
        value = getattr(arguments, name)
        if value is not None and value < least:
            raise UsageError(f"--{name.replace('_', '-')} is {value}: it must be at least {least}")
    if arguments.run_id is not None and (arguments.rate is not None or arguments.other_rate is not None):
        raise UsageError("give RUN or --rate, not both")
    if arguments.run_id is None and arguments.arms:
        raise UsageError("--arms names arms of a RUN: without a RUN give --rate and --other-rate")


def _samples(text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise UsageError(f"--samples is {text!r}: give whole numbers joined by commas, such as 1,3,5") from None


def _numbers(arguments: argparse.Namespace, verifier: VerifierPilot | None) -> Pilot:
    from app.runs.plan import pilot_of_numbers

    if arguments.rate is None:
        raise UsageError("give a pilot RUN (plumbline report lists them), or numbers: --rate 0.2")
    other = () if arguments.other_rate is None else (arguments.other_rate,)
    if arguments.detect is not None and not other:
        other = (arguments.rate,)  # The planner shifts the second rate by the difference to detect.
    rates = (arguments.rate, *other)
    questions = arguments.pilot_questions
    return pilot_of_numbers(rates, arguments.within, arguments.together, questions, 3, verifier, seed=arguments.seed)


def _verifier(arguments: argparse.Namespace) -> VerifierPilot | None:
    from evaluation.planning.label_plan import VerifierPilot

    if arguments.caught is None and arguments.passed is None:
        return None
    counts = []
    for name in ("caught", "passed"):
        match = _COUNTS.fullmatch(getattr(arguments, name) or "")
        if match is None or int(match[1]) > int(match[2]):
            raise UsageError(
                f"--{name} is {getattr(arguments, name)}: give --caught and --passed as X/Y, such as 18/20, with X at "
                "most Y"
            )
        counts += [int(match[1]), int(match[2])]
    return VerifierPilot(*counts)


def plan_json(plan: FullPlan) -> dict[str, Any]:
    """Return the plan as JSON values.

    A number is null if more than 20,000 questions, or more labels than questions, are needed.
    """
    from dataclasses import asdict

    return {
        "arms": list(plan.pilot.arms),
        "pilot": {"questions": plan.pilot.questions, "samples": plan.pilot.samples},
        "wanted": asdict(plan.wanted),
        "plan": asdict(plan.questions),
        "verifier": None if plan.pilot.verifier is None else asdict(plan.pilot.verifier),
        "labels": None if plan.labels is None else asdict(plan.labels),
        "notes": list(plan.pilot.notes),
    }


def _show(plan: FullPlan, output: Output) -> None:
    from evaluation.planning.plan import MOST_QUESTIONS

    pilot, model = plan.pilot, plan.questions.model
    what = " − ".join(pilot.arms) if len(pilot.arms) > 1 else pilot.arms[0]
    source = f"a pilot of {pilot.questions} questions" if pilot.questions else "numbers taken as exact"
    rates = ", ".join(f"{100 * r:.1f} %" for r in model.rates)
    within = ", ".join(f"{w:.2f}" for w in model.within)
    together = f", of arms {model.together:.2f}" if len(model.rates) > 1 else ""
    output.data(f"{what}, from {source}: rate {rates}; correlation of samples of a question {within}{together}")
    level = f"{100 * plan.questions.level:g} %"
    if plan.wanted.half_width is not None:
        output.data(f"target: a {level} interval of about ±{100 * plan.wanted.half_width:g} points")
    else:
        found = f"{100 * plan.questions.expected:+.1f} points"
        output.data(
            f"target: detect a difference of {found} (a {level} interval without 0) with probability "
            f"{plan.wanted.power:.0%}"
        )
    header = ("samples", "questions", "range (80 %)" if plan.questions.ranges else "", "responses per arm")
    output.data("  ".join(f"{name:>21}" if i == 2 else f"{name:>9}" for i, name in enumerate(header)).rstrip())
    for row in plan.questions.rows:
        cells = (str(row.samples), _count(row.questions), _range(row, plan.questions.ranges), _count(row.responses))
        output.data("  ".join(f"{cell:>21}" if i == 2 else f"{cell:>9}" for i, cell in enumerate(cells)).rstrip())
    if any(row.questions is None for row in plan.questions.rows):
        output.info(
            f"more than {MOST_QUESTIONS:,} questions are needed, which is not supported: choose a wider target, "
            "or compare other arms"
        )
    if plan.labels is not None:
        output.data(_labels(plan.labels, plan.pilot.verifier))
    elif plan.wanted.half_width is not None:
        output.info("no plan for labels: label a few answers of RUN, or give --caught X/Y and --passed X/Y")
    for note in pilot.notes:
        output.info(f"note: {note}")


def _labels(plan: LabelPlan, verifier: VerifierPilot | None) -> str:
    what = "difference" if plan.difference else "rate"
    of = f"of {plan.questions} questions x {plan.samples} samples"
    seen = ""
    if verifier is not None:
        seen = (
            f"; verifier: {verifier.caught}/{verifier.positives} caught, {verifier.passed}/{verifier.negatives} passed"
        )
    if plan.labels is None:
        return (
            f"labels: even with all {plan.questions} questions labelled, the corrected {what} has "
            f"±{100 * plan.half_width_all:.1f} points ({of}{seen})"
        )
    low, high = (str(v) if v is not None else f"more than {plan.questions}" for v in (plan.lower, plan.upper))
    return (
        f"labels: {plan.labels} labelled questions ({low} to {high} for other verifiers that fit these "
        f"labels), one answer per arm, for ±{100 * plan.target:g} points of the corrected {what} {of}{seen}"
    )


def _count(value: int | None) -> str:
    return ">20,000" if value is None else f"{value:,}"


def _range(row: PlanRow, known: bool) -> str:
    return f"{_count(row.lower)} to {_count(row.upper)}" if known else ""
