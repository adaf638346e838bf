"""Build a text and its outline from pieces and the white space between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from data.outline import Heading, Outline
from data.parsing.decoding import storable_text

_MAX_COLUMNS = 1000
_TAIL_CHARACTERS = 20
_ORDER = {"": 0, " ": 1, "\t": 2, "\n": 3, "\n\n": 4}


@dataclass(slots=True)
class _Table:
    """A table that is being written.

    gap: white space requested before the current row.
    spans: number of following rows that a cell still covers, by column.
    column: column of the current cell.
    width: number of columns of the current cell.
    tabs: number of tabs to write before the next text.
    has_text: whether the row has text.
    in_cell: whether a cell of the row has started.
    """

    gap: str = ""
    spans: dict[int, int] = field(default_factory=dict)
    column: int = 0
    width: int = 1
    tabs: int = 0
    has_text: bool = False
    in_cell: bool = False


class TextBuilder:
    """A builder of a text. Characters that a database cannot store are replaced or removed.

    White space is written only before more text. If several kinds were requested, the widest is used.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._gap = ""
        self._headings: list[Heading] = []
        self._pages: list[int] = []
        self._level = 0
        self._heading_start: int | None = None
        self._tables: list[_Table] = []
        self._tail = ""

    def __len__(self) -> int:
        return self._length

    def gap(self, gap: str) -> None:
        """Request white space ("", " ", tab, newline or blank line) before the next text."""
        if _ORDER[gap] > _ORDER[self._gap]:
            self._gap = gap

    def add(self, text: str) -> None:
        """Add running text. White space is collapsed to single spaces."""
        words = " ".join(storable_text(text).split())
        if not words:
            self.gap(" " if text else "")
            return
        if text[0].isspace():
            self.gap(" ")
        self._write(words)
        if text[-1].isspace():
            self.gap(" ")

    def add_exactly(self, text: str) -> None:
        """Add text with significant white space, such as code. White space before the first text is omitted."""
        text = storable_text(text)
        if not text.strip():
            self.gap("\n" if "\n" in text else " ")
            return
        self._write(text if self._length else text.lstrip())

    def begin_heading(self, level: int) -> None:
        """Start a heading, which lasts until ``end_heading``."""
        self.end_heading()
        self._level = level

    def end_heading(self) -> None:
        """End the current heading, if any. A heading without text is dropped."""
        if self._level and self._heading_start is not None:
            self._headings.append(Heading(self._heading_start, self._length, min(self._level, 9)))
        self._level, self._heading_start = 0, None

    def begin_table(self) -> None:
        """Start a table. Tables may be nested in cells."""
        if self._tabs:
            self._write("")  # write the tabs of the cell that contains the table
        self._tables.append(_Table())
        self.gap("\n\n")

    def end_table(self) -> None:
        """End the innermost table, if any."""
        if self._tables:
            self._tables.pop()
        self.gap("\n\n")

    def begin_row(self) -> None:
        """Start a row of the innermost table on a new line."""
        self.gap("\n")
        if not self._tables:
            return
        table = self._tables[-1]
        table.spans = {column: rows - 1 for column, rows in table.spans.items() if rows > 1}
        table.gap, table.column, table.width, table.tabs = self._gap, 0, 0, 0
        table.has_text = table.in_cell = False

    def begin_cell(self, columns: int = 1, rows: int = 1) -> None:
        """Start a cell. A tab is written for every column, even an empty one.

        columns, rows: number of columns and rows that the cell spans.
        """
        if not self._tables:
            self.gap("\t")
            return
        table = self._tables[-1]
        column = table.column + table.width
        while column in table.spans and column < _MAX_COLUMNS:
            column += 1
        table.tabs = min(table.tabs + column - table.column, _MAX_COLUMNS)
        columns = max(1, min(columns, _MAX_COLUMNS - column))
        table.column, table.width, table.in_cell = column, columns, True
        if rows > 1 and column < _MAX_COLUMNS:
            table.spans.update(dict.fromkeys(range(column, column + columns), rows))
        self._gap = "" if table.has_text else table.gap

    def widen(self, columns: int) -> None:
        """Widen the current cell by a number of columns. Before the first cell of a row, skip the columns."""
        if self._tables:
            self._tables[-1].width += max(0, min(columns, _MAX_COLUMNS))

    def end_row(self) -> None:
        """End the row. No tabs are written for empty cells at its end."""
        if self._tables:
            self._tables[-1].tabs, self._tables[-1].in_cell = 0, False
        self.gap("\n")

    @property
    def tail(self) -> str:
        """Last characters (at most 20) of the text, or "" if white space follows before the next text."""
        return self._tail if not self._gap and not self._tabs else ""

    @property
    def _tabs(self) -> int:
        return self._tables[-1].tabs if self._tables else 0

    def begin_page(self) -> None:
        """Start a page on a new line. There is no blank line, because a sentence may continue from the last page."""
        self.gap("\n")
        self._pages.append(-1)

    def text(self) -> str:
        """Return the entire text."""
        self.end_heading()
        return "".join(self._pieces)

    def outline(self) -> Outline:
        """Return the outline of the entire text. It has no line numbers."""
        self.end_heading()
        pages = tuple(self._length if page < 0 else page for page in self._pages)
        return Outline(tuple(self._headings), pages, first_line=0)

    def _write(self, text: str) -> None:
        gap = self._gap if self._length else ""
        if self._tables:
            table = self._tables[-1]
            if table.tabs or (table.in_cell and not table.has_text):
                gap = (table.gap if self._length and not table.has_text else "") + "\t" * table.tabs
            table.tabs = 0
            for outer in reversed(self._tables):
                if outer.has_text:
                    break  # The enclosing headings end as well.
                outer.has_text = outer.in_cell
        if gap:
            self._pieces.append(gap)
            self._length += len(gap)
        self._gap = ""
        self._tail = (("" if gap else self._tail) + text)[-_TAIL_CHARACTERS:]
        for number in range(len(self._pages) - 1, -1, -1):
            if self._pages[number] >= 0:
                break
            self._pages[number] = self._length
        if self._level and self._heading_start is None:
            self._heading_start = self._length
        self._pieces.append(text)
        self._length += len(text)
