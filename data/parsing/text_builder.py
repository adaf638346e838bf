"""Text put together from pieces, with the white space between them, and its outline on the way."""

from __future__ import annotations

from dataclasses import dataclass, field

from data.outline import Heading, Outline
from data.parsing.decoding import storable_text

_MOST_COLUMNS = 1000
_TAIL = 20
_ORDER = {"": 0, " ": 1, "\t": 2, "\n": 3, "\n\n": 4}


@dataclass(slots=True)
class _Table:
    """A table that is being written. gap: asked for before its present row. spans: column -> how many rows below it is
    still taken by a cell from above. column: the next one of the row. tabs: to be written before more text."""

    gap: str = ""
    spans: dict[int, int] = field(default_factory=dict)
    column: int = 0
    width: int = 1
    tabs: int = 0
    has_text: bool = False
    in_cell: bool = False


class TextBuilder:
    """Grows one text. What is added is made sound; a gap is only written before more text, the widest asked for."""

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
        """Ask for white space (one of "", " ", tab, newline, blank line) before what comes next."""
        if _ORDER[gap] > _ORDER[self._gap]:
            self._gap = gap

    def add(self, text: str) -> None:
        """Running text: white space becomes single spaces."""
        words = " ".join(storable_text(text).split())
        if not words:
            self.gap(" " if text else "")
            return
        if text[0].isspace():
            self.gap(" ")
        self._put(words)
        if text[-1].isspace():
            self.gap(" ")

    def add_exactly(self, text: str) -> None:
        """Text whose white space matters (code); at the beginning of the whole text it is dropped."""
        text = storable_text(text)
        if not text.strip():
            self.gap("\n" if "\n" in text else " ")
            return
        self._put(text if self._length else text.lstrip())

    def begin_heading(self, level: int) -> None:
        """What is added from here on is a heading, until ``end_heading``."""
        self.end_heading()
        self._level = level

    def end_heading(self) -> None:
        """The heading ends, if one was begun; one without words is none."""
        if self._level and self._heading_start is not None:
            self._headings.append(Heading(self._heading_start, self._length, min(self._level, 9)))
        self._level, self._heading_start = 0, None

    def begin_table(self) -> None:
        """A table begins; tables may lie within cells of others."""
        if self._tabs:
            self._put("")  # of the cell that the table lies in
        self._tables.append(_Table())
        self.gap("\n\n")

    def end_table(self) -> None:
        """The innermost table ends, if one was begun."""
        if self._tables:
            self._tables.pop()
        self.gap("\n\n")

    def begin_row(self) -> None:
        """A row of the innermost table begins, on a line of its own."""
        self.gap("\n")
        if not self._tables:
            return
        table = self._tables[-1]
        table.spans = {column: rows - 1 for column, rows in table.spans.items() if rows > 1}
        table.gap, table.column, table.width, table.tabs = self._gap, 0, 0, 0
        table.has_text = table.in_cell = False

    def begin_cell(self, columns: int = 1, rows: int = 1) -> None:
        """A cell begins; every column of a row, empty ones too, is held by a tab. columns, rows: how many it takes."""
        if not self._tables:
            self.gap("\t")
            return
        table = self._tables[-1]
        at = table.column + table.width
        while at in table.spans and at < _MOST_COLUMNS:
            at += 1
        table.tabs = min(table.tabs + at - table.column, _MOST_COLUMNS)
        columns = max(1, min(columns, _MOST_COLUMNS - at))
        table.column, table.width, table.in_cell = at, columns, True
        if rows > 1 and at < _MOST_COLUMNS:
            table.spans.update(dict.fromkeys(range(at, at + columns), rows))
        self._gap = "" if table.has_text else table.gap

    def widen(self, columns: int) -> None:
        """The present cell takes so many columns more; before the first cell of a row: they are passed over."""
        if self._tables:
            self._tables[-1].width += max(0, min(columns, _MOST_COLUMNS))

    def end_row(self) -> None:
        """The row ends; empty cells at its end leave no tabs."""
        if self._tables:
            self._tables[-1].tabs, self._tables[-1].in_cell = 0, False
        self.gap("\n")

    @property
    def tail(self) -> str:
        """The last characters (some 20), if what is added next follows them without white space; else empty."""
        return self._tail if not self._gap and not self._tabs else ""

    @property
    def _tabs(self) -> int:
        return self._tables[-1].tabs if self._tables else 0

    def begin_page(self) -> None:
        """A page begins: a new line, because a sentence may run on from the page before."""
        self.gap("\n")
        self._pages.append(-1)

    def text(self) -> str:
        """The whole text."""
        self.end_heading()
        return "".join(self._pieces)

    def outline(self) -> Outline:
        """The outline of the whole text, which is no lines of a file."""
        self.end_heading()
        pages = tuple(self._length if page < 0 else page for page in self._pages)
        return Outline(tuple(self._headings), pages, first_line=0)

    def _put(self, text: str) -> None:
        gap = self._gap if self._length else ""
        if self._tables:
            table = self._tables[-1]
            if table.tabs or (table.in_cell and not table.has_text):
                gap = (table.gap if self._length and not table.has_text else "") + "\t" * table.tabs
            table.tabs = 0
            for outer in reversed(self._tables):
                if outer.has_text:
                    break  # and so have those around it
                outer.has_text = outer.in_cell
        if gap:
            self._pieces.append(gap)
            self._length += len(gap)
        self._gap = ""
        self._tail = (("" if gap else self._tail) + text)[-_TAIL:]
        for number in range(len(self._pages) - 1, -1, -1):
            if self._pages[number] >= 0:
                break
            self._pages[number] = self._length
        if self._level and self._heading_start is None:
            self._heading_start = self._length
        self._pieces.append(text)
        self._length += len(text)
