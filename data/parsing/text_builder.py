"""Text put together from pieces, with the white space between them, and its outline on the way."""

from __future__ import annotations

from data.outline import Heading, Outline
from data.parsing.decoding import made_sound

_ORDER = {"": 0, " ": 1, "\t": 2, "\n": 3, "\n\n": 4}


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

    def __len__(self) -> int:
        return self._length

    def gap(self, gap: str) -> None:
        """Ask for white space (one of "", " ", tab, newline, blank line) before what comes next."""
        if _ORDER[gap] > _ORDER[self._gap]:
            self._gap = gap

    def add(self, text: str) -> None:
        """Running text: white space becomes single spaces."""
        words = " ".join(made_sound(text).split())
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
        text = made_sound(text)
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
        if self._length and self._gap:
            self._pieces.append(self._gap)
            self._length += len(self._gap)
        self._gap = ""
        for number in range(len(self._pages) - 1, -1, -1):
            if self._pages[number] >= 0:
                break
            self._pages[number] = self._length
        if self._level and self._heading_start is None:
            self._heading_start = self._length
        self._pieces.append(text)
        self._length += len(text)
