"""The outline of a text: offsets of its headings and pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, ``text[start:end]`` in characters. level: 1 (highest) to 9."""

    start: int
    end: int
    level: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"a heading must not be empty: [{self.start}, {self.end})")
        if not 1 <= self.level <= 9:
            raise ValueError(f"a heading's level must be from 1 to 9, not {self.level}")


@dataclass(frozen=True, slots=True)
class Outline:
    """The headings and pages of a text.

    headings: in order, without overlap. pages: offsets of page 1, 2, and so on; empty for texts without pages.
    first_line: line of the file at which the text starts; 0 if the text does not consist of lines of a file (PDF,
    HTML).
    """

    headings: tuple[Heading, ...] = ()
    pages: tuple[int, ...] = ()
    first_line: int = 1

    def __post_init__(self) -> None:
        if any(left.end > right.start for left, right in pairwise(self.headings)):
            raise ValueError("headings must be in order and must not overlap")
        if any(left > right for left, right in pairwise(self.pages)) or (self.pages and self.pages[0] < 0):
            raise ValueError("the offsets of pages must be in ascending order and not negative")
        if self.first_line < 0:
            raise ValueError(f"first_line must not be negative, not {self.first_line}")

    @property
    def end(self) -> int:
        """Minimum length of a text with this outline."""
        return max(self.headings[-1].end if self.headings else 0, self.pages[-1] if self.pages else 0)

    def to_json(self) -> dict[str, Any]:
        """Return the outline as a JSON object. Defaults are omitted, so that most documents have ``{}``."""
        value: dict[str, Any] = {}
        if self.headings:
            value["headings"] = [[heading.start, heading.end, heading.level] for heading in self.headings]
        if self.pages:
            value["pages"] = list(self.pages)
        if self.first_line != 1:
            value["first_line"] = self.first_line
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Any] | None) -> Outline:
        """Return the outline in the output of ``to_json``; None gives an empty outline.

        Raises TypeError or ValueError if it is invalid.
        """
        value = value or {}
        headings = value.get("headings", ())
        return cls(
            headings=tuple(Heading(int(start), int(end), int(level)) for start, end, level in headings),
            pages=tuple(int(start) for start in value.get("pages", ())),
            first_line=int(value.get("first_line", 1)),
        )
