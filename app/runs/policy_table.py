"""Table of the policies of a run, for a terminal of 80 columns."""

from __future__ import annotations

from rich.table import Table

from app.runs.tables import cell, table
from evaluation.analysis.policy_figures import PolicyFigures
from evaluation.reports.policy_view import COLUMNS, policy_cells


def policies_table(figures: PolicyFigures) -> Table:
    """Return a table of the policies: rate among answered, answer rate, difference from none, costs per response."""
    result = table(
        "Policies: hallucinated among answered, share answered, paired difference from none (of all\n"
        "responses; positive: the policy hallucinates less), tokens of prompts + answers, seconds",
        COLUMNS[0],
        COLUMNS[1:],
    )
    for row in figures.policies:
        difference = "" if row.difference is None else cell(row.difference, signed=True)
        result.add_row(
            row.policy.replace("+", "\n+"), cell(row.rate), cell(row.answer_rate), difference, *policy_cells(row)
        )
    return result
