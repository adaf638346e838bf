"""Compute the automatic numbers that Word displays before paragraphs, such as 1., (a), § 2 or 3.1."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from data.parsing.office_xml import XmlEvents

_LEVELS = 9
_PLACEHOLDER = re.compile(r"%([1-9])")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"))
_ROMAN_UNITS = (*_ROMAN, (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


@dataclass(slots=True)
class ListLevel:
    """A level of a list.

    start: first number.
    format: number format, such as "decimal" or "lowerRoman".
    text: text of the label, with %1 for the number of the first level, and so on.
    decimal_only: whether the numbers of all levels are shown as decimals.
    style: ID of the style of its paragraphs.
    """

    start: int = 1
    format: str = "decimal"
    text: str = ""
    decimal_only: bool = False
    style: str = ""


@dataclass(slots=True)
class Numbering(XmlEvents):
    """The lists of word/numbering.xml and their current counts.

    lists: levels of each abstract list, by its ID and the level's index.
    used: ID of the abstract list of each list.
    overrides: first numbers that a list sets, by its ID and the level's index.
    """

    lists: dict[str, dict[int, ListLevel]] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)
    overrides: dict[str, dict[int, int]] = field(default_factory=dict)
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)
    _started: set[tuple[str, int]] = field(default_factory=set)
    _abstract: str = ""
    _num: str = ""
    _level: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        value = attributes.get("val", "")
        match name:
            case "abstractNum":
                self._abstract, self._num = attributes.get("abstractNumId", ""), ""
            case "num":
                self._num = attributes.get("numId", "")
            case "abstractNumId" if self._num:
                self.used[self._num] = value
            case "lvl" | "lvlOverride":
                self._level = _integer(attributes.get("ilvl", "0"))
            case "startOverride" if self._num:
                self.overrides.setdefault(self._num, {})[self._level] = _integer(value)
            case "start" | "numFmt" | "lvlText" | "isLgl" | "pStyle" if not self._num:
                self._describe(name, value)

    def _describe(self, name: str, value: str) -> None:
        level = self.lists.setdefault(self._abstract, {}).setdefault(self._level, ListLevel())
        match name:
            case "start":
                level.start = _integer(value)
            case "numFmt":
                level.format = value
            case "lvlText":
                level.text = value
            case "isLgl":
                level.decimal_only = value not in ("0", "false")
            case "pStyle":
                level.style = value

    def level_of_style(self, num: str, style: str) -> int:
        """Return the level that a list assigns to a paragraph style, 0 if it assigns none."""
        levels = self.lists.get(self.used.get(num, ""), {})
        return next((number for number, level in levels.items() if level.style and level.style == style), 0)

    def label(self, num: str, level: int) -> str:
        """Count the next paragraph of a list and level, and return its label, "" for bullets."""
        abstract = self.used.get(num, "")
        levels = self.lists.get(abstract)
        if levels is None or level not in levels or not 0 <= level < _LEVELS:
            return ""
        counts = self._counts.setdefault(abstract, {})
        override = self.overrides.get(num, {}).get(level)
        if override is not None and (num, level) not in self._started:
            counts[level] = override
        else:
            counts[level] = counts[level] + 1 if level in counts else levels[level].start
        self._started.add((num, level))
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        described = levels[level]
        if described.format in ("bullet", "none"):
            return ""

        def number(match: re.Match[str]) -> str:
            index = int(match.group(1)) - 1
            listed = levels.get(index, ListLevel())
            return formatted_number(
                counts.get(index, listed.start), "decimal" if described.decimal_only else listed.format
            )

        return _PLACEHOLDER.sub(number, described.text).strip()


def formatted_number(number: int, kind: str) -> str:
    """Return a number in one of Word's formats (ECMA-376 part 1, 17.18.59). Formats of other scripts give digits."""
    match kind:
        case "lowerLetter" | "upperLetter" if number > 0:
            letters = chr(97 + (number - 1) % 26) * min((number - 1) // 26 + 1, 100)
            return letters if kind == "lowerLetter" else letters.upper()
        case "lowerRoman" | "upperRoman" if 0 < number < 10_000:
            roman = ""
            for value, sign in _ROMAN_UNITS:
                roman += sign * (number // value)
                number %= value
            return roman if kind == "lowerRoman" else roman.upper()
        case "decimalZero":
            return f"{number:02d}"
        case "none":
            return ""
    return str(number)


def _integer(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
