"""A run's numbers as tables for a terminal."""

from __future__ import annotations

from rich.table import Table

from evaluation.estimates import HallucinationEstimate
from evaluation.report_view import interval, p_value, percent
from evaluation.summary import RunSummary


def _cell(estimate: HallucinationEstimate, *, signed: bool = False) -> str:
    if not estimate.defined:
        return "undefined"
    return f"{percent(estimate.rate, signed)} {interval(estimate, signed)}"


def arms_table(summary: RunSummary) -> Table:
    """Rows: the arms. Columns: share of all responses with each outcome, then hallucinated among answered ones."""
    table = Table(title=f"Share of all responses, with {summary.settings.level:.0%} intervals clustered by question")
    table.add_column("arm", no_wrap=True)
    for name in ("hallucinated", "supported", "abstained", "unscored", "hallucinated of answered"):
        table.add_column(name, justify="right")
    for arm in summary.arms:
        table.add_row(
            arm.arm,
            *(_cell(m.default) for m in (arm.hallucinated, arm.supported, arm.abstained, arm.unscored)),
            _cell(arm.hall_answered.default),
        )
    return table


def pairs_table(summary: RunSummary) -> Table:
    """Rows: the declared pairs. Columns: paired difference, fixed and broken questions, sign-flip p-value (Holm)."""
    table = Table(title="Paired differences in hallucinated (positive: the second arm hallucinates less)")
    table.add_column("pair", no_wrap=True)
    for name in ("difference", "fixed", "broken", "questions fixed / broken", "p (Holm)"):
        table.add_column(name, justify="right")
    for pair in summary.pairs:
        table.add_row(
            f"{pair.baseline} − {pair.other}",
            _cell(pair.difference.default, signed=True),
            _cell(pair.fixed.default),
            _cell(pair.broken.default),
            f"{pair.fixed_questions:.1f} / {pair.broken_questions:.1f} of {pair.questions}",
            p_value(pair.p_holm),
        )
    return table
