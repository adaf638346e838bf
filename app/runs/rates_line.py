"""The rates of a summary as one line, and as a small HTML table for notebooks."""

from __future__ import annotations

from data.html_table import html_table
from evaluation.reports.report_view import interval, percent
from evaluation.statistics.run_summary import ArmSummary, RunSummary

_SHOWN = 4


def rates_line(summary: RunSummary) -> str:
    """Return the rates of the first arms in one line.

    For example "hallucinated: rag 12.3 % [8.1, 17.9], oracle 4.0 % [2.2, 7.1]". The rates are shares of scored answers.
    """
    rates = [_rate(arm) for arm in summary.arms[:_SHOWN]]
    rest = len(summary.arms) - len(rates)
    return f"hallucinated: {', '.join(rates)}" + (f" and {rest} more" if rest else "")


def _rate(arm: ArmSummary) -> str:
    rate = f"{arm.arm} {percent(arm.headline.default.rate)} {interval(arm.headline.default)}".rstrip()
    unscored = arm.unscored.default.rate
    return f"{rate} ({percent(unscored)} unscored)" if unscored else rate


def rates_html(caption: str, summary: RunSummary) -> str:
    """Return an HTML table with one row per arm: shares of all responses with their intervals."""
    header = ("arm", "hallucinated", "supported", "abstained", "unscored", "responses")
    rows = []
    for arm in summary.arms:
        measured = (arm.hallucinated, arm.supported, arm.abstained, arm.unscored)
        cells = (f"{percent(m.default.rate)} {interval(m.default)}".rstrip() for m in measured)
        rows.append((arm.arm, *cells, str(arm.hallucinated.default.responses)))
    return html_table(caption, header, rows)
