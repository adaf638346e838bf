"""Tables of uncorrected rates and rates corrected by labels, for a terminal of 80 columns."""

from __future__ import annotations

from rich.table import Table

from app.console import Output
from app.runs.tables import cell, table
from evaluation.correction.corrected import CorrectedRun
from evaluation.correction.corrected_figures import CorrectedFigures
from evaluation.reports.corrected_view import agreement_lines, corrected_rows, notes_of

_SHORT = {"hallucinated": "of all", "answered": "of answered", "difference": "difference"}


def corrected_table(run: CorrectedRun) -> Table:
    """Return a table of uncorrected and corrected rates.

    Rows: rates of all responses, rates among answered ones, differences. Columns: the uncorrected rate, then one column
    per correction method.
    """
    found = table(
        f"Corrected by labels of {run.labelled} of {run.population} questions, {run.settings.level:.0%} "
        "intervals;\n* is the corrected figure to report",
        "figure",
        ("uncorrected", "verifier+labels", "labels alone", "Rogan-Gladen"),
    )
    for row in corrected_rows(run):
        signed = bool(row.against)
        name = f"{row.arm}\n− {row.against}" if row.against else f"{row.arm}\n{_SHORT[row.quantity]}"
        star = [cell(row.rectified, signed=signed), cell(row.labels_only, signed=signed)]
        chosen = 0 if row.headline is row.rectified else 1
        star[chosen] = f"* {star[chosen]}"
        rogan_gladen = "" if row.rogan_gladen is None else cell(row.rogan_gladen, signed=signed)
        found.add_row(name, cell(row.uncorrected, signed=signed), *star, rogan_gladen)
    return found


def quality_table(run: CorrectedRun) -> Table:
    """Return a table of the verifier's quality in each arm: counts of labels, sensitivity and specificity."""
    found = table(
        "The verifier against the labels. Sensitivity: share of the responses labelled\nhallucinated that it "
        "flags; specificity: share of the others that it does not flag",
        "arm",
        ("labelled", "hallucinated", "unsure", "wrong", "sensitivity", "specificity"),
    )
    for arm in run.arms:
        quality = arm.rogan_gladen.quality
        counts = (arm.labelled, arm.positives, arm.undecided, arm.disagreements)
        found.add_row(arm.arm, *map(str, counts), cell(quality.sensitivity), cell(quality.specificity))
    return found


def print_corrected(figures: CorrectedFigures | None, output: Output) -> None:
    """Print the tables and the annotators' agreement to stdout and notes to stderr. Prints nothing without labels."""
    if figures is None:
        return
    if figures.run is not None:
        output.out.print(corrected_table(figures.run))
        output.out.print(quality_table(figures.run))
    for line in agreement_lines(figures.agreement):
        output.data(line)
    for note in notes_of(figures):
        output.info(note)
