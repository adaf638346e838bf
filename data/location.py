"""Where a stretch of a document is, in the words of the person who wrote it: page, heading, line."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from data.documents import Document
from data.outline import Heading


@dataclass(frozen=True, slots=True)
class Location:
    """page, last_page: from 1, None without pages. headings: from the outermost to the nearest, by their words.

    line, last_line: of the file, from 1; None where the text is not lines of a file.
    """

    page: int | None
    last_page: int | None
    headings: tuple[str, ...]
    line: int | None
    last_line: int | None

    def shown(self) -> str:
        """For people: ``page 3, Notice, line 12``; empty when nothing is known."""
        parts: list[str] = []
        if self.page is not None:
            parts.append(f"page {self.page}" if self.page == self.last_page else f"pages {self.page}-{self.last_page}")
        if self.headings:
            parts.append(" > ".join(self.headings))
        if self.line is not None:
            parts.append(f"line {self.line}" if self.line == self.last_line else f"lines {self.line}-{self.last_line}")
        return ", ".join(parts)


def location_of(document: Document, start: int, end: int) -> Location:
    """The place of ``document.text[start:end]``. Raises ValueError if that is empty or lies outside the text.

    A stretch that begins with a heading, or in one, belongs to that heading.
    """
    if not 0 <= start < end <= len(document.text):
        raise ValueError(
            f"[{start}, {end}) is no stretch of document {document.id!r}, which has {len(document.text)} characters"
        )
    outline = document.outline
    page, last_page = _page(outline.pages, start), _page(outline.pages, end - 1)
    line = last_line = None
    if outline.first_line:
        line = outline.first_line + document.text.count("\n", 0, start)
        last_line = line + document.text.count("\n", start, end - 1)
    trail = tuple(
        " ".join(document.text[heading.start : heading.end].split())
        for heading in heading_trail(outline.headings, _first_word(document.text, start, end))
    )
    return Location(page, last_page, trail, line, last_line)


def heading_trail(headings: tuple[Heading, ...], offset: int) -> tuple[Heading, ...]:
    """The headings above an offset, from the outermost in: each has a lower level than the next."""
    trail: list[Heading] = []
    for heading in reversed(headings[: bisect_right(headings, offset, key=lambda heading: heading.start)]):
        if not trail or heading.level < trail[-1].level:
            trail.append(heading)
            if heading.level == 1:
                break
    return tuple(reversed(trail))


def _first_word(text: str, start: int, end: int) -> int:
    """Past blanks and Markdown's marks of a heading: the heading's own words begin behind them."""
    return next((place for place in range(start, end) if text[place] not in " \t\n#"), start)


def _page(pages: tuple[int, ...], offset: int) -> int | None:
    """The number of the page that holds an offset: of pages that begin at one place only the last has text."""
    if not pages:
        return None
    return max(bisect_right(pages, offset), 1)
