"""Coverage tables: Markdown with the worst cell of each interval by number of questions, and CSV with every cell."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.coverage_cells import LEVEL, Cell

_COLUMNS = (
    *("interval", "questions", "samples", "setting", "data sets", "coverage", "truth below", "truth above"),
    *("mean width", "short"),
)
_HEADING = f"""# Nominal and achieved coverage

Made by `python -m benchmarks.coverage` (see statistics.md, section 7); not to be edited. Intervals of level
{LEVEL:g}. "Below" is the share of data sets with the truth below the interval, "above" with the truth above it. A cell
is short when its coverage is below the level by more than 3 Monte Carlo standard errors of its number of data sets; at
exactly the level 1 cell in 740 is. One standard error is {{error}}.
Every cell is in the CSV file beside this page.
"""


def worst_of(cells: Sequence[Cell]) -> dict[str, float]:
    """Return the lowest coverage of each interval."""
    return {kind: round(min(c.coverage for c in mine), 4) for kind, mine in _by_kind(cells)}


def markdown(cells: Sequence[Cell], every: bool = False, heading: bool = False) -> str:
    """Return the tables. every: whether to add one row per cell. heading: whether to add the heading of a separate
    page.
    """
    lines = [_HEADING.format(error=_errors(cells))] if heading else []
    for kind, mine in _by_kind(cells):
        lines.append(f"\n## {kind}\n" if heading else f"\n### {kind}\n")
        lines.append(
            f"{_counted(len(mine), 'cell')} of {_range(mine)} data sets; {sum(c.short for c in mine)} short.\n"
        )
        lines.append("| questions | cells | lowest coverage | its setting | below | above | median width | short |")
        lines.append("|---|---|---|---|---|---|---|---|")
        for n in sorted({c.questions for c in mine}):
            row = [c for c in mine if c.questions == n]
            low = min(row, key=lambda c: c.coverage)
            width = float(np.median([c.width for c in row]))
            lines.append(
                f"| {n:,} | {len(row)} | {low.coverage:.4f} | {_counted(low.samples, 'sample')}, {low.setting} "
                f"| {low.truth_below:.4f} | {low.truth_above:.4f} | {width:.4f} | {sum(c.short for c in row)} |"
            )
        if every:
            lines += ["", *_every(mine)]
    return "\n".join(lines) + "\n"


def as_csv(cells: Sequence[Cell]) -> str:
    """Return one row per cell, sorted by interval, questions, samples and setting."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for kind, mine in _by_kind(cells):
        for c in _sorted(mine):
            tails = (f"{c.coverage:.4f}", f"{c.truth_below:.4f}", f"{c.truth_above:.4f}", f"{c.width:.4f}")
            writer.writerow((kind, c.questions, c.samples, c.setting, c.replicates, *tails, "short" if c.short else ""))
    return out.getvalue()


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _errors(cells: Sequence[Cell]) -> str:
    """Return the Monte Carlo standard error at the level, for the most and the fewest data sets of a cell."""
    counts = [c.replicates for c in cells]
    errors = [f"{math.sqrt(LEVEL * (1.0 - LEVEL) / n):.4f} with {n:,} data sets" for n in (max(counts), min(counts))]
    return " and ".join(dict.fromkeys(errors))


def _sorted(cells: Sequence[Cell]) -> list[Cell]:
    return sorted(cells, key=lambda c: (c.questions, c.samples, c.setting))


def _every(cells: Sequence[Cell]) -> Iterator[str]:
    yield "| questions | samples | setting | data sets | coverage | below | above | mean width | short |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for c in _sorted(cells):
        yield (
            f"| {c.questions} | {c.samples} | {c.setting} | {c.replicates} | {c.coverage:.4f} | {c.truth_below:.4f} "
            f"| {c.truth_above:.4f} | {c.width:.4f} | {'short' if c.short else ''} |"
        )


def _by_kind(cells: Sequence[Cell]) -> list[tuple[str, list[Cell]]]:
    return [(k, [c for c in cells if c.interval == k]) for k in dict.fromkeys(c.interval for c in cells)]


def _range(cells: Sequence[Cell]) -> str:
    counts = sorted(c.replicates for c in cells)
    return f"{counts[0]:,}" if counts[0] == counts[-1] else f"{counts[0]:,} to {counts[-1]:,}"
