"""Format the policies of a report: a table, and curves of hallucination rate against answer rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evaluation.analysis.policy_figures import PolicyFigure, PolicyFigures
from evaluation.reports.analysis_tables import AnalysisRow
from evaluation.reports.analysis_view import NamedChart
from evaluation.reports.curves import Axis, Line, Point, line_chart
from evaluation.statistics.estimates import HallucinationEstimate

_TOGETHER = 3
"""Maximum number of bands in one chart. More are hard to distinguish."""
_ANSWERED = Axis(0.0, 1.0, tuple((t / 100, f"{t} %") for t in range(0, 101, 25)), "share of the questions answered")


@dataclass(frozen=True, slots=True)
class PolicyView:
    """Figures of policies with their charts.

    charts: the chart of all policies, then one per policy if there are too many bands for one chart.
    """

    figures: PolicyFigures
    charts: tuple[NamedChart, ...]


def policy_view(figures: PolicyFigures) -> PolicyView:
    """Return the figures with their charts."""
    return PolicyView(figures, policy_charts(figures))


def policy_charts(figures: PolicyFigures) -> tuple[NamedChart, ...]:
    """Return charts of the hallucinated share of the answers by the share answered; empty without a curve.

    The bands are simultaneous 95 % bands.
    """
    drawn = [row for row in figures.policies if row.curve is not None]
    if not drawn:
        return ()
    together = len(drawn) <= _TOGETHER
    charts = [NamedChart("all policies", line_chart([_line(row, together) for row in drawn], _ANSWERED))]
    if not together:
        charts += [NamedChart(row.policy, line_chart([_line(row, True)], _ANSWERED)) for row in drawn]
    return tuple(charts)


def _line(row: PolicyFigure, banded: bool) -> Line:
    points = row.curve.points if row.curve else ()
    shown = tuple(
        Point(p.answer_rate, p.rate, p.band_lower if banded else None, p.band_upper if banded else None)
        for p in points
        if p.rate is not None
    )
    return Line(row.policy, shown)


def policies_json(figures: PolicyFigures | None) -> dict[str, Any] | None:
    """Return the figures as JSON values. An undefined number is None."""
    return None if figures is None else asdict(figures)


def policy_rows(figures: PolicyFigures | None) -> tuple[AnalysisRow, ...]:
    """Return the figures of policies that the tables of arms and differences do not contain."""
    return tuple(row for policy in figures.policies for row in _rows(policy)) if figures else ()


def _rows(row: PolicyFigure) -> Iterator[AnalysisRow]:
    e = row.answer_rate
    yield AnalysisRow(
        "policies", row.arm, "", "answer rate", e.rate, e.lower, e.upper, e.level, e.questions, e.responses, e.method
    )
    costs = (
        ("prompt tokens a response", row.prompt_tokens),
        ("completion tokens a response", row.completion_tokens),
        ("seconds a response", row.seconds),
        ("answers judged a response", row.judged),
    )
    for quantity, value in costs:
        reason = "" if value is not None else "nothing was drawn"
        yield AnalysisRow(
            "policies", row.arm, "", quantity, value, None, None, None, 0, row.responses, "mean", reason, share=False
        )
    if row.curve is not None and row.curve.area is not None:
        yield AnalysisRow(
            "policies",
            row.arm,
            "",
            "area under rate against share answered (AURC)",
            row.curve.area,
            None,
            None,
            None,
            row.curve.questions,
            row.curve.questions,
            "area",
            share=False,
        )


COLUMNS = ("policy", "rate", "answer rate", "none − policy", "tokens", "seconds", "AURC")


def policy_cells(row: PolicyFigure) -> tuple[str, str, str]:
    """Return tokens, seconds and AURC as shown in tables."""
    tokens = "-"
    if row.prompt_tokens is not None and row.completion_tokens is not None:
        tokens = f"{row.prompt_tokens:.0f} + {row.completion_tokens:.0f}"
    area = row.curve.area if row.curve else None
    return tokens, "-" if row.seconds is None else f"{row.seconds:.2f}", "-" if area is None else f"{area:.3f}"


def policy_markdown(figures: PolicyFigures | None, figure: Any, cell: Any) -> Sequence[str]:
    """Return the lines of a Markdown table; empty without policies.

    figure: formats an estimate; its second argument is whether to write the sign.
    cell: escapes a text.
    """
    if figures is None:
        return ()
    lines = ["", f"Policies, selected by {cell(figures.selector)}, judged by {cell(figures.judge)}:", ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|---" + "|---:" * (len(COLUMNS) - 1) + "|"]
    for row in figures.policies:
        difference: HallucinationEstimate | None = row.difference
        shown = (figure(row.rate), figure(row.answer_rate), "" if difference is None else figure(difference, True))
        lines.append("| " + " | ".join((cell(row.policy), *shown, *policy_cells(row))) + " |")
    return lines
