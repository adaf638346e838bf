"""Conversion of structured evidence (JSON, key-value lines, tables) to plain sentences with offsets.

Independent of verifiers. Safe for untrusted input: a single pass, no recursion, bounded size. Malformed input is
converted up to the error.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evaluation.evidence.structured_json import json_sentences
from evaluation.evidence.structured_words import (
    StructuredSentence,
    ended,
    is_weekday,
    shown_value,
    split_key,
    spoken_path,
)

MAX_CHARACTERS = 1_000_000
_MAX_ROWS, _MAX_CELLS, _LONG_LINE = 20_000, 60, 2_000

_LINE = re.compile(
    r"(?:[-*•]\s{1,9})?(?P<key>[^\W\d_][\w .()/&'’#-]{0,48}?)\s{0,9}(?:(?P<mark>[:=\t])| [-–] )\s{0,9}(?P<value>.*)"
)
_RULE = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?")

StructuredKind = Literal["json", "lines", "table"]


@dataclass(frozen=True, slots=True)
class StructuredReading:
    """Sentences of a piece of structured evidence, in order."""

    kind: StructuredKind
    sentences: tuple[StructuredSentence, ...]

    @property
    def text(self) -> str:
        """All sentences, separated by spaces."""
        return " ".join(sentence.text for sentence in self.sentences)


def as_sentences(text: str) -> StructuredReading | None:
    """Return the sentences of JSON (or a Python literal), key-value lines, or a table; None for prose.

    "hours": {"Monday": "17:30-23:0"} becomes "hours on Monday: 17:30 to 23:00 (5:30 PM to 11 PM).". Keys are split at
    camel case and underscores; true and false become yes and no, null becomes "not stated". A table row, and an object
    in a list, becomes one sentence. Never raises. Linear in time. Returns None for a text above MAX_CHARACTERS. Content
    deeper than 24 levels loses its outer keys, and JSON yields at most 20,000 sentences.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    if sentences := json_sentences(text):
        return StructuredReading("json", tuple(sentences))
    if sentences := _table(text):
        return StructuredReading("table", tuple(sentences))
    if sentences := _lines(text):
        return StructuredReading("lines", tuple(sentences))
    return None


def _rows(text: str) -> Iterator[tuple[str, int]]:
    offset = 0
    for line in text.split("\n"):
        if line.strip():
            yield line.rstrip("\r"), offset
        offset += len(line) + 1


def _lines(text: str) -> list[StructuredSentence] | None:
    rows = list(_rows(text))
    if len(rows) < 2 or len(rows) > _MAX_ROWS:
        return None
    matches = [_LINE.fullmatch(line.strip()) if len(line) < _LONG_LINE else None for line, _ in rows]
    good = [m for m in matches if m is not None and len(m["key"].split()) <= 6]
    if len(good) < max(2, 0.7 * len(rows)) or sum(len(m["value"]) for m in good) > 110 * len(good):
        return None
    if not any(m["mark"] for m in good):
        return None
    found = []
    for (line, offset), match in zip(rows, matches, strict=True):
        start = offset + len(line) - len(line.lstrip())
        if match is None or not match["value"].strip():
            shown = split_key(match["key"]) + ": not stated" if match is not None and match["mark"] else line.strip()
        else:
            key = match["key"].strip()
            names = key.split(" ") if is_weekday(key.split(" ")[-1]) else [key]
            shown = f"{spoken_path(names[:-1], names[-1])}: {shown_value(match['value'])}"
        found.append(StructuredSentence(ended(shown), start, offset + len(line.rstrip())))
    return found


def _table(text: str) -> list[StructuredSentence] | None:
    rows = list(_rows(text))
    if len(rows) < 2 or len(rows) > _MAX_ROWS:
        return None
    first = next((i for i, (line, _) in enumerate(rows[:6]) if "|" in line), None)
    if first is not None and len(rows) > first + 1 and _is_rule(rows[first + 1][0]):
        header = _bars(rows[first][0])
        body = [(line, offset) for line, offset in rows[first + 2 :]]
        found = [
            StructuredSentence(" ".join(line.split()), offset, offset + len(line)) for line, offset in rows[:first]
        ]
        for line, offset in body:
            cells = _bars(line) if "|" in line else [line]
            found.append(StructuredSentence(_row(header, cells), offset, offset + len(line)))
        return found if body else None
    for mark in ("\t", "|", ";", ","):
        if mark not in rows[0][0]:
            continue
        table = [_split(line, mark) for line, _ in rows]
        width = len(table[0])
        if not 2 <= width <= _MAX_CELLS or (width < 3 and mark == ","):
            continue
        if len(rows) < 3 and mark in ",;":
            continue
        same = sum(len(cells) == width for cells in table)
        short = all(0 < len(cell) <= 40 and len(cell.split()) <= 5 and cell[-1] not in ".!?" for cell in table[0])
        average = sum(len(cell) for cells in table for cell in cells) / sum(map(len, table))
        if same < 0.9 * len(table) or not short or len(set(table[0])) < width or average > 40:
            continue
        return [
            StructuredSentence(_row(table[0], cells), offset, offset + len(line))
            for cells, (line, offset) in zip(table[1:], rows[1:], strict=True)
        ]
    return None


def _is_rule(line: str) -> bool:
    return len(line) < _LONG_LINE and _RULE.fullmatch(line.strip()) is not None


def _bars(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")][: 4 * _MAX_CELLS]


def _split(line: str, mark: str) -> list[str]:
    if mark == "|":
        return _bars(line)
    if len(line) > 100_000:
        return [line]
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=mark))]
    except (csv.Error, StopIteration):
        return [line]


def _row(header: list[str], cells: list[str]) -> str:
    """ "City Arden: population 1,200; founded 1850." """
    if not cells or len(cells) == 1:
        return ended(" ".join(cells))
    rest = [
        f"{split_key(name) if name else 'value'} {shown_value(cell)}"
        for name, cell in zip(header[1:], cells[1:], strict=False)
    ]
    return ended(f"{split_key(header[0])} {shown_value(cells[0])}: {'; '.join(rest)}")
