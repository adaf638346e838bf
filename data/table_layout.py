"""Detect the delimiter of a table from its first lines, or from Excel's ``sep=`` line."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

DELIMITERS = ",;\t|"
NO_DELIMITER = "\x1f"
"""Delimiter of tables with one column: ASCII's unit separator, which texts do not contain."""

_EXCEL = re.compile(r"\ufeff?sep=(.)\r?\n?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The layout of a table.

    delimiter: character between cells; NO_DELIMITER for one column. declared: whether the first line is ``sep=X`` and
    not a row.
    """

    delimiter: str
    declared: bool = False


def table_layout(lines: Sequence[str], *, complete: bool = False) -> TableLayout:
    """Return the layout of a table.

    lines: first lines of the table, with line ends. complete: whether they are all lines. A line ``sep=X`` decides.
    Otherwise the delimiter is the one with which most rows have as many cells as the header, taking quotes into
    account. Among equals, it is the one after which fewer cells start with a space, as after commas in prose. If no
    delimiter divides both the header and a row, the table has one column.
    """
    if lines and (match := _EXCEL.fullmatch(lines[0])):
        return TableLayout(match.group(1), declared=True)
    best = (0.0, 0.0, 0)
    found = NO_DELIMITER
    for delimiter in DELIMITERS:
        score = _score(_rows(lines, delimiter, complete), delimiter)
        if score > best:
            best, found = score, delimiter
    return TableLayout(found)


def _rows(lines: Sequence[str], delimiter: str, complete: bool) -> list[list[str]]:
    reader = csv.reader(lines, delimiter=delimiter)
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(row for row in reader if any(cell.strip() for cell in row))
    # If more lines follow, the last row may be cut within a quoted cell.
    return rows if complete or len(rows) < 3 else rows[:-1]


def _score(rows: Sequence[Sequence[str]], delimiter: str) -> tuple[float, float, int]:
    """Return the score of a delimiter, which is 0 if it divides no rows.

    It consists of the share of rows with the header's number of cells, the share of cells that do not start with a
    space (for commas), and the number of cells.
    """
    if not rows or len(rows[0]) < 2:
        return (0.0, 0.0, 0)
    width, body = len(rows[0]), rows[1:]
    if body and all(len(row) == 1 for row in body):
        return (0.0, 0.0, 0)
    fitting = sum(len(row) == width for row in body) / len(body) if body else 1.0
    cells = [cell for row in rows for cell in row]
    prose = sum(cell.startswith(" ") for cell in cells) / len(cells) if delimiter == "," else 0.0
    return (max(fitting, 1e-6), 1 - prose, width)
