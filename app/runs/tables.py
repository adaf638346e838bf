"""Tables of a run's figures for a terminal of 80 columns. Each cell has a share, with its interval on the next line."""

from __future__ import annotations

from collections.abc import Mapping

from rich import box
from rich.table import Table

from evaluation.reports.limits_text import limits_text
from evaluation.reports.report_view import p_value
from evaluation.reports.terms import CHANGES
from evaluation.statistics.estimates import HallucinationEstimate
from evaluation.statistics.run_summary import PairSummary, RunSummary


def cell(estimate: HallucinationEstimate, *, signed: bool = False) -> str:
    """Return a percentage with the interval on the next line, or "undefined" without data."""
    if estimate.rate is None or estimate.lower is None or estimate.upper is None:
        return "undefined"
    sign = "+" if signed else ""
    limits = limits_text(estimate.lower, estimate.upper, signed=signed, separator=",")
    return f"{format(100 * estimate.rate, f'{sign}.1f')} %\n{limits}"


def table(title: str, first: str, columns: tuple[str, ...]) -> Table:
    """Return an empty table with a title and columns. first: name of the first column."""
    result = Table(
        title=title, title_justify="left", box=box.SIMPLE, padding=(0, 0, 0, 1), pad_edge=False, show_edge=False
    )
    result.add_column(first, no_wrap=True)
    for name in columns:
        result.add_column(name, justify="right", no_wrap=True)
    return result


def plain_table(columns: tuple[str, ...]) -> Table:
    """Return an empty table with left-aligned columns. Long cells are wrapped, never truncated."""
    result = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for name in columns:
        result.add_column(name, overflow="fold")
    return result


def arms_table(summary: RunSummary) -> Table:
    """Return a table of the arms: the share of responses with each outcome, and of hallucinated among answered ones."""
    result = table(
        f"Share of all responses, {summary.settings.level:.0%} intervals clustered by question;\n"
        "last column: hallucinated among answered ones (neither abstained nor unscored)",
        "arm",
        ("hallucinated", "supported", "abstained", "unscored", "of answered"),
    )
    for arm in summary.arms:
        measured = (arm.hallucinated, arm.supported, arm.abstained, arm.unscored, arm.hall_answered)
        result.add_row(arm.arm, *(cell(m.default) for m in measured))
    return result


def models_table(summaries: Mapping[str, RunSummary]) -> Table:
    """Return a table of several models on the same questions, with the columns of ``arms_table``."""
    result = table(
        "All models: share of all responses, hallucinated among answered ones last",
        "model, arm",
        ("hallucinated", "supported", "abstained", "unscored", "of answered"),
    )
    for model, summary in summaries.items():
        for arm in summary.arms:
            measured = (arm.hallucinated, arm.supported, arm.abstained, arm.unscored, arm.hall_answered)
            result.add_row(f"{model}\n{arm.arm}", *(cell(m.default) for m in measured))
    return result


def pairs_table(summary: RunSummary) -> Table:
    """Return a table of the compared pairs of arms.

    Columns: paired difference, fixed and broken shares, number of questions, sign-flip p-value (Holm). If responses are
    unscored, the difference has a third line with its possible range over all their outcomes, and the questions say
    how many were left out.
    """
    unscored = [pair.bounds.low < pair.bounds.high for pair in summary.pairs]
    note = (
        "\nof pairs of scored responses; {low,high}: limits over all outcomes of the unscored ones"
        if any(unscored)
        else ""
    )
    result = table(
        "Paired difference in hallucinated (positive: the second arm hallucinates less);\nfixed: "
        f"{CHANGES['fixed']},\nbroken: {CHANGES['broken']};\nerrors of the verifier inflate both{note}",
        "pair",
        ("difference", "fixed", "broken", "questions", "p (Holm)"),
    )
    for pair, open_ended in zip(summary.pairs, unscored, strict=True):
        could_be = f"\n{{{100 * pair.bounds.low:+.1f},{100 * pair.bounds.high:+.1f}}}" if open_ended else ""
        result.add_row(
            f"{pair.baseline}\n− {pair.other}",
            cell(pair.difference.default, signed=True) + could_be,
            cell(pair.fixed.default),
            cell(pair.broken.default),
            _questions(pair),
            p_value(pair.p_holm),
        )
    return result


def _questions(pair: PairSummary) -> str:
    """Return the numbers of fixed, broken and unscored questions, one per line."""
    lines = []
    if pair.fixed_questions is not None and pair.broken_questions is not None:
        lines += [f"{pair.fixed_questions:.1f} fixed", f"{pair.broken_questions:.1f} broken"]
    if pair.unscored:
        lines.append(f"{pair.unscored} unscored")
    return "\n".join(lines)
