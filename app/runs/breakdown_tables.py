"""Terminal tables of rates by retrieval result, pass^k and citations. The report has further sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from app.runs.tables import cell
from evaluation.citations.figures import ArmCitations
from evaluation.reports.report_data import ReportData
from evaluation.robustness.breakdown import ArmBreakdown


def breakdown_tables(data: ReportData) -> Iterator[Table]:
    """Yield tables of retrieval results, pass^k and citations, as far as the report contains them."""
    if any(arm.causes for arm in data.breakdown):
        yield _causes(data.breakdown)
    if any(arm.passes for arm in data.breakdown):
        yield _passes(data.breakdown)
    if data.citations:
        yield _citations(data.citations)


def _causes(arms: Sequence[ArmBreakdown]) -> Table:
    table = _table("Hallucinated and supported by retrieval result", "arm", "retrieval", "questions")
    for name in ("hallucinated", "supported"):
        table.add_column(name, justify="right")
    for arm in arms:
        for row in arm.causes:
            table.add_row(arm.arm, row.name, str(row.questions), cell(row.hallucinated), cell(row.supported))
    return table


def _passes(arms: Sequence[ArmBreakdown]) -> Table:
    table = _table("pass^k: all of k answers are supported", "arm", "k")
    table.add_column("share", justify="right")
    for arm in arms:
        for one in arm.passes:
            table.add_row(arm.arm, str(one.k), cell(one.share))
    return table


def _citations(arms: Sequence[ArmCitations]) -> Table:
    table = _table("Citations (ALCE)", "arm")
    for name in ("recall", "precision", "wrong", "missing", "needless"):
        table.add_column(name, justify="right")
    for arm in arms:
        counts = (str(n) for n in (arm.wrong, arm.missing, arm.needless))
        table.add_row(arm.arm, cell(arm.recall), cell(arm.precision), *counts)
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, box=box.SIMPLE, title_justify="left")
    for column in columns:
        table.add_column(column)
    return table
