"""Describe the location of a span in a document by page, heading and line."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise

from data.documents import Document
from data.outline import Heading

_WORD = re.compile(r"\w")
_SECTIONS = 3
"""Maximum number of sections to display. If there are more, only the first and the last one are displayed."""


@dataclass(frozen=True, slots=True)
class Location:
    """The location of a span in a document.

    page, last_page: first and last page, from 1; None without pages. headings: headings above the span, from the
    outermost to the nearest. line, last_line: first and last line in the file, from 1; None if the text does not
    consist of lines of a file. sections: headings of every section with text in the span, in order; ``headings`` is the
    first of them. row: location of a table row, such as "people.csv row 17"; "" for other documents.
    """

    page: int | None
    last_page: int | None
    headings: tuple[str, ...]
    line: int | None
    last_line: int | None
    sections: tuple[tuple[str, ...], ...] = ()
    row: str = ""

    def shown(self) -> str:
        """Return the location as text: ``page 3, Notice, line 12``."""
        if self.row:
            return self.row
        parts: list[str] = []
        if self.page is not None:
            parts.append(f"page {self.page}" if self.page == self.last_page else f"pages {self.page}-{self.last_page}")
        named = [" > ".join(section) for section in self.sections or (self.headings,) if section]
        if len(named) > _SECTIONS:
            parts.append(f"{named[0]} to {named[-1]}")
        elif named:
            parts.append("; ".join(named))
        if self.line is not None:
            parts.append(f"line {self.line}" if self.line == self.last_line else f"lines {self.line}-{self.last_line}")
        return ", ".join(parts)


def location_of(document: Document, start: int, end: int) -> Location:
    """Return the location of ``document.text[start:end]``. Raises ValueError if the span is empty or outside the text.

    A span that starts with a heading, or inside one, belongs to that heading.
    """
    if not 0 <= start < end <= len(document.text):
        raise ValueError(
            f"[{start}, {end}) is not a span of document {document.id!r}, which has {len(document.text)} characters"
        )
    outline = document.outline
    page, last_page = _page(outline.pages, start), _page(outline.pages, end - 1)
    line = last_line = None
    if outline.first_line:
        line = outline.first_line + document.text.count("\n", 0, start)
        last_line = line + document.text.count("\n", start, end - 1)
    sections = _sections(document, start, end)
    return Location(page, last_page, sections[0], line, last_line, sections, _row(document))


def _sections(document: Document, start: int, end: int) -> tuple[tuple[str, ...], ...]:
    """Return the headings of each section with text in the span; those at its start if the span has only headings."""
    text, headings = document.text, document.outline.headings
    first = _first_word(text, start, end)
    inside = headings[bisect_right(headings, first, key=lambda h: h.start) : bisect_left(headings, end, key=_start)]
    found: list[tuple[str, ...]] = []
    for left, right in pairwise([first, *(heading.start for heading in inside), end]):
        trail = heading_trail(headings, left)
        begins = max(left, trail[-1].end) if trail else left
        if _WORD.search(text, begins, right):
            found.append(tuple(" ".join(text[heading.start : heading.end].split()) for heading in trail))
    if not found:
        found.append(tuple(" ".join(text[h.start : h.end].split()) for h in heading_trail(headings, first)))
    return tuple(dict.fromkeys(found))


def _start(heading: Heading) -> int:
    return heading.start


def _row(document: Document) -> str:
    """Return "people.csv row 17" for a table row, "row 17" if rows have their own IDs, and "" for other documents."""
    row = dict(document.metadata).get("row", "")
    if not row.isdecimal():
        return ""
    named = next((document.id.removesuffix(mark + row) for mark in "#!" if document.id.endswith(mark + row)), "")
    return f"{named} row {row}".strip()


def heading_trail(headings: tuple[Heading, ...], offset: int) -> tuple[Heading, ...]:
    """Return the headings above an offset, from the outermost to the nearest. Their levels increase."""
    trail: list[Heading] = []
    for heading in reversed(headings[: bisect_right(headings, offset, key=lambda heading: heading.start)]):
        if not trail or heading.level < trail[-1].level:
            trail.append(heading)
            if heading.level == 1:
                break
    return tuple(reversed(trail))


def _first_word(text: str, start: int, end: int) -> int:
    """Return the first offset after blanks and Markdown heading marks, where the text of a heading starts."""
    return next((index for index in range(start, end) if text[index] not in " \t\n#"), start)


def _page(pages: tuple[int, ...], offset: int) -> int | None:
    """Return the page number of an offset. If several pages start at one offset, only the last one has text."""
    if not pages:
        return None
    return max(bisect_right(pages, offset), 1)
