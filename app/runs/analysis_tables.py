"""Terminal tables of a run's analysis. The report has further sections."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.table import Table

from app.runs.tables import cell as two_lines
from evaluation.analysis.gold_rates import GoldComparison
from evaluation.analysis.grid import GridFigures
from evaluation.analysis.observed_events import ObservedRate
from evaluation.analysis.run_analysis import RunAnalysis
from evaluation.reports.analysis_view import setting_name
from evaluation.reports.limits_text import limits_text
from evaluation.reports.report_view import interval, percent
from evaluation.statistics.bands import Band

_ACROSS = 4


def analysis_tables(found: RunAnalysis | None) -> Iterator[Table]:
    """Yield the tables of the decoding grid, the observations of arms, and the gold evidence, if the run has them."""
    if found is not None and found.grid is not None:
        yield _grid_table(found.grid)
    if found is not None and found.observed:
        yield _observed_table(found.observed)
    if found is not None and found.gold is not None:
        yield _gold_table(found.gold)


def _grid_table(grid: GridFigures) -> Table:
    """Return a table of hallucinated shares, each with its simultaneous limits on the next line.

    Rows: arms, or arms and settings if there are many settings.
    """
    table = _table("Hallucinated share of all responses by decoding;\nlimits hold for all settings of an arm together")
    table.caption = "* the setting of the tables above"
    names = [setting_name(s) + (" *" if i == grid.headline else "") for i, s in enumerate(grid.settings)]
    wide = len(names) <= _ACROSS
    table.add_column("arm", no_wrap=True)
    if not wide:
        table.add_column("setting", no_wrap=True)
    for name in names if wide else ("hallucinated",):
        table.add_column(name, justify="right", no_wrap=True)
    for arm in grid.arms:
        cells = [_banded(arm.hallucinated, i) for i in range(len(names))]
        if wide:
            table.add_row(arm.arm, *cells)
            continue
        for i, (name, cell) in enumerate(zip(names, cells, strict=True)):
            table.add_row("" if i else arm.arm, name, cell)
    return table


def _banded(band: Band, i: int) -> str:
    lower, upper = band.lower[i], band.upper[i]
    limits = "" if lower is None or upper is None else f"\n{limits_text(lower, upper, separator=',')}"
    return percent(band.rates[i]) + limits


def _observed_table(rates: tuple[ObservedRate, ...]) -> Table:
    """Return a table of the events observed in each arm."""
    table = _table("Observations of arms, share of the responses with a definite observation")
    for name in ("arm", "event"):
        table.add_column(name)
    for name in ("share", "responses"):
        table.add_column(name, justify="right", no_wrap=True)
    for o in rates:
        estimate = o.rate.default
        shown = f"{percent(estimate.rate)}\n{interval(estimate)}".strip()
        table.add_row(o.arm, o.name, shown, f"{o.definite}" + (f"\n{o.indefinite} indefinite" if o.indefinite else ""))
    return table


def _gold_table(found: GoldComparison) -> Table:
    """Return a table that compares verdicts by retrieved evidence with verdicts by gold passages.

    Rows: arms (all responses, then answered ones), then pairs of arms. Columns: both sources and their difference.
    """
    table = _table(f"Hallucinated by retrieved evidence and by gold passages, {found.questions} questions with both")
    table.add_column("arm", no_wrap=True)
    for name in ("own verdict", "fetched", "gold", "gold − fetched"):
        table.add_column(name, justify="right", no_wrap=True)
    for arm in found.arms:
        for name, rates in ((arm.arm, arm.of_all), ("  of answered", arm.of_answered)):
            shares = (two_lines(rates.own), two_lines(rates.fetched), two_lines(rates.gold))
            table.add_row(name, *shares, two_lines(rates.change, signed=True))
    for pair in found.pairs:
        differences = (two_lines(pair.fetched, signed=True), two_lines(pair.gold, signed=True))
        table.add_row(f"{pair.baseline}\n− {pair.other}", "", *differences, "")
    return table


def _table(title: str) -> Table:
    return Table(
        title=title,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE,
        padding=(0, 0, 0, 1),
        pad_edge=False,
        show_edge=False,
    )
