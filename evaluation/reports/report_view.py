"""Prepare a run for the template: formatted numbers and ordered questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.detection.intervals import ScoreEstimate
from evaluation.outcomes import OUTCOMES, Outcome
from evaluation.reports.answer_view import ArmView, arm_view
from evaluation.reports.claim_figures import ArmClaims, claims_of
from evaluation.reports.limits_text import limits_text
from evaluation.reports.plots import Bar, Chart, chart
from evaluation.reports.report_data import ReportData, ReportQuestion
from evaluation.statistics.estimates import HallucinationEstimate, Measurement
from evaluation.statistics.run_summary import ArmSummary, PairSummary


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question's section.

    worst: rank of the question in the order worst first, from 1.
    fixed, broken: shares of the question in the first pair of arms.
    compared: whether the first pair compares the question.
    """

    anchor: str
    worst: int
    question: ReportQuestion
    fixed: float
    broken: float
    compared: bool
    arms: tuple[ArmView, ...]


@dataclass(frozen=True, slots=True)
class ArmFigure:
    """An arm's numbers with its bars."""

    arm: ArmSummary
    bars: Chart


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A question that one arm fixed or broke. anchor: anchor of its section; "" if the report has no answers to it."""

    question_id: str
    text: str
    kind: str
    anchor: str
    fixed: float
    broken: float


@dataclass(frozen=True, slots=True)
class PairFigure:
    """A pair's numbers with its bars.

    changes: changed questions, worst first. unchanged: number of compared questions that did not change.
    verdict: sentence on which arm hallucinates less.
    """

    pair: PairSummary
    bars: Chart
    changes: tuple[ChangeRow, ...]
    unchanged: int
    verdict: str


@dataclass(frozen=True, slots=True)
class ReportView:
    """Everything that the template reads."""

    data: ReportData
    level: str
    arms: tuple[ArmFigure, ...]
    pairs: tuple[PairFigure, ...]
    questions: tuple[QuestionView, ...]
    kinds: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    claims: tuple[ArmClaims, ...]


def percent(value: float | None, signed: bool = False) -> str:
    """Return a share as text: "12.3 %" for 0.1234, "undefined" for None.

    A value that would be rounded to 0 is shown as "<0.1 %".
    """
    if value is None:
        return "undefined"
    if 0 < abs(value) < 0.0005:
        return "<0.1 %" if value > 0 else "−<0.1 %"
    text = f"{100 * value:+.1f} %" if signed and value else f"{100 * value:.1f} %"
    return text.replace("-", "−")


def interval(estimate: HallucinationEstimate, signed: bool = False) -> str:
    """Return an interval in percent, such as "[8.1, 17.9]"; "" if there is none."""
    if estimate.lower is None or estimate.upper is None:
        return ""
    return limits_text(estimate.lower, estimate.upper, signed=signed).replace("-", "−")


def score(estimate: ScoreEstimate | None) -> str:
    """Return an estimate as text, such as "0.812 [0.701, 0.900]" or "undefined (reason)"."""
    if estimate is None or estimate.estimate is None:
        return f"undefined ({estimate.reason if estimate else 'nothing was labelled'})"
    if estimate.lower is None or estimate.upper is None:
        return f"{estimate.estimate:.3f}"
    return f"{estimate.estimate:.3f} {limits_text(estimate.lower, estimate.upper, 3, scale=1.0)}"


def share(estimate: ScoreEstimate) -> str:
    """Return a share as text, such as "12.3 % [8.1, 17.9]" or "an undefined share (reason)"."""
    if estimate.estimate is None:
        return f"an undefined share ({estimate.reason})"
    if estimate.lower is None or estimate.upper is None:
        return percent(estimate.estimate)
    return f"{percent(estimate.estimate)} {limits_text(estimate.lower, estimate.upper)}"


def p_value(p: float | None) -> str:
    """Return a p-value as text: "0.034", "<0.001", or "undefined" for None."""
    if p is None:
        return "undefined"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def worst_first(data: ReportData) -> list[ReportQuestion]:
    """Return the questions, worst first.

    They are sorted by the share broken in the first pair, then by the share hallucinated in its second arm, then in all
    arms, then by ID.
    """
    first = data.summary.pairs[0] if data.summary.pairs else None
    broken = {c.question_id: c.broken for c in first.changes} if first else {}

    def share(question: ReportQuestion, arms: Sequence[str] | None) -> float:
        outcomes = [s.outcome for a in question.arms if arms is None or a.arm in arms for s in a.samples]
        return sum(o == "hallucinated" for o in outcomes) / max(len(outcomes), 1)

    main = [first.other] if first else None
    return sorted(data.questions, key=lambda q: (-broken.get(q.id, 0.0), -share(q, main), -share(q, None), q.id))


def _arm_figure(arm: ArmSummary) -> ArmFigure:
    rates: tuple[Measurement, ...] = (arm.hallucinated, arm.supported, arm.abstained, arm.unscored)
    bars = [
        Bar(name, name, m.default, f"{percent(m.default.rate)} {interval(m.default)}")
        for name, m in zip(OUTCOMES, rates, strict=True)
    ]
    return ArmFigure(arm, chart(bars, 0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0)))


def _pair_figure(pair: PairSummary, anchors: dict[str, str], questions: dict[str, ReportQuestion]) -> PairFigure:
    shown = (
        ("difference", "difference", pair.difference.default, True),
        ("fixed", "supported", pair.fixed.default, False),
        ("broken", "hallucinated", pair.broken.default, False),
    )
    bars = [Bar(n, style, e, f"{percent(e.rate, signed)} {interval(e, signed)}") for n, style, e, signed in shown]
    rows = tuple(
        ChangeRow(
            c.question_id,
            questions[c.question_id].text if c.question_id in questions else "",
            questions[c.question_id].kind if c.question_id in questions else "",
            anchors.get(c.question_id, ""),
            c.fixed,
            c.broken,
        )
        for c in pair.changes
        if c.fixed > 0 or c.broken > 0
    )
    plot = chart(bars, -1.0, 1.0, (-1.0, -0.5, 0.0, 0.5, 1.0))
    return PairFigure(pair, plot, rows, pair.questions - len(rows), _verdict(pair))


def _verdict(pair: PairSummary) -> str:
    """Return a sentence on which arm hallucinates less, if the interval shows it."""
    e = pair.difference.default
    if e.rate is None or e.lower is None or e.upper is None:
        return f"The difference is undefined: {e.reason}."
    if e.lower > 0:
        return f"{pair.other} hallucinated less often than {pair.baseline}: the interval lies above zero."
    if e.upper < 0:
        return f"{pair.other} hallucinated more often than {pair.baseline}: the interval lies below zero."
    arms = f"{pair.baseline} and {pair.other}"
    return f"The interval contains zero, so this run does not show which of {arms} hallucinates less."


def left_out_text(pair: PairSummary) -> tuple[str, ...]:
    """Return short descriptions of the questions and pairs of responses that a difference leaves out, with reasons."""
    reasons = (
        (pair.left_out, "only in one arm"),
        (pair.unscored, "unscored"),
        (pair.excluded, "judged by the passages shown"),
    )
    words = [f"{count} left out: {why}" for count, why in reasons if count]
    if pair.questions and pair.scored_share < 1.0:
        words.append(f"{percent(pair.scored_share)} of the response pairs scored")
    return tuple(words)


def build_view(data: ReportData) -> ReportView:
    """Create the view of a report. Anchors consist of positions, never of external text."""
    ordered = worst_first(data)
    anchors = {q.id: f"q{i}" for i, q in enumerate(data.questions, start=1)}
    by_id = {q.id: q for q in data.questions}
    first = {c.question_id: c for c in data.summary.pairs[0].changes} if data.summary.pairs else {}
    views = tuple(
        QuestionView(
            anchors[q.id],
            rank,
            q,
            first[q.id].fixed if q.id in first else 0.0,
            first[q.id].broken if q.id in first else 0.0,
            q.id in first,
            tuple(arm_view(a, f"{anchors[q.id]}-a{i}") for i, a in enumerate(q.arms)),
        )
        for rank, q in enumerate(ordered, start=1)
    )
    return ReportView(
        data,
        f"{100 * data.summary.settings.level:g} %",
        tuple(_arm_figure(a) for a in data.summary.arms),
        tuple(_pair_figure(p, anchors, by_id) for p in data.summary.pairs),
        views,
        tuple(sorted({q.kind for q in data.questions if q.kind})),
        OUTCOMES,
        claims_of(data),
    )
