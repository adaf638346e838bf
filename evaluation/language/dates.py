"""Parse dates and times of day, complete or partial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.language.normalise import Token
from evaluation.language.numerals import numeral_at
from model.english import MONTHS

_MONTHS = {
    name: number
    for number, month in enumerate(
        MONTHS,
        start=1,
    )
    for name in (month, month[:3], *(("sept",) if month == "september" else ()))
}
_DAYS_IN = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class CalendarDate:
    """A date with the parts that are given; at least one part is not None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def agrees(self, other: CalendarDate) -> bool:
        """Return whether at least one part is given in both and no such part differs."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        both = [(a, b) for a, b in pairs if a is not None and b is not None]
        return bool(both) and all(a == b for a, b in both)

    def covers(self, other: CalendarDate) -> bool:
        """Return whether every part that ``other`` gives is given here and equal."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        return all(b is None or a == b for a, b in pairs)


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date in tokens[start:end]. readings: several if day and month are ambiguous (4/3/2021)."""

    readings: tuple[CalendarDate, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A time of day in tokens[start:end], in minutes from midnight. half_known: whether a.m. or p.m. is known."""

    minutes: int
    half_known: bool
    start: int
    end: int


def _valid(year: int | None, month: int, day: int | None) -> bool:
    return 1 <= month <= 12 and (day is None or 1 <= day <= _DAYS_IN[month - 1]) and (year is None or 1 <= year <= 9999)


def _text(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].lower if 0 <= index < len(tokens) else ""


def _day(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    """Return (day, next index) for "4", "4th", "fourth", "the 4th" at index, or None."""
    if index >= len(tokens):
        return None
    if _text(tokens, index) == "the" and index + 1 < len(tokens):
        index += 1
    token = tokens[index]
    if token.kind == "number" and token.number.isdecimal() and token.suffix in ("", "st", "nd", "rd", "th"):
        day, after = int(token.number), index + 1
    else:
        numeral = numeral_at(tokens, index)
        if numeral is None or not numeral.ordinal or numeral.value.denominator != 1:
            return None
        day, after = int(numeral.value), numeral.end
    return (day, after) if 1 <= day <= 31 else None


def _year(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    """Return (year, next index) for a four-digit year at index, after an optional comma or "of", or None."""
    if _text(tokens, index) in (",", "of", "in"):
        index += 1
    if index < len(tokens) and len(tokens[index].text) == 4 and tokens[index].text.isdecimal():
        return int(tokens[index].text), index + 1
    return None


def _month(tokens: Sequence[Token], index: int) -> int | None:
    number = _MONTHS.get(_text(tokens, index))
    # "may" and "march" are also verbs, so a month must be capitalised.
    return number if number is not None and not tokens[index].text.islower() else None


def _numeric(tokens: Sequence[Token], index: int) -> DateMention | None:
    """Parse 2021-03-04, 4/3/2021 or 04.03.2021 at index."""
    token = tokens[index]
    if token.kind != "number" or token.suffix:
        return None
    if token.number.count(".") == 2:
        parts, end = token.number.split("."), index + 1
    elif (
        index + 4 < len(tokens)
        and _text(tokens, index + 1) in "-/"
        and tokens[index + 3].text == tokens[index + 1].text
    ):
        parts, end = [tokens[index].text, tokens[index + 2].text, tokens[index + 4].text], index + 5
        if tokens[end - 1].end - token.start != sum(len(p) for p in parts) + 2:
            return None
    else:
        return None
    if not all(p.isdecimal() and len(p) <= 4 for p in parts):
        return None
    a, b, c = (int(p) for p in parts)
    triples = [(a, b, c)] if len(parts[0]) == 4 else [(c, b, a), (c, a, b)] if len(parts[2]) == 4 else []
    readings = tuple(dict.fromkeys(CalendarDate(*t) for t in triples if _valid(*t)))
    return DateMention(readings, index, end) if readings else None


def date_at(tokens: Sequence[Token], index: int) -> DateMention | None:
    """Return the date that starts at tokens[index] ("4 March 2021", "March 4th", "March 2021", "2021-03-04"), or None.

    A bare year or month name is not a date: a year is parsed as a number, a month as a word.
    """
    numeric = _numeric(tokens, index)
    if numeric is not None:
        return numeric
    month = _month(tokens, index)
    if month is not None:
        after = index + 2 if _text(tokens, index + 1) == "." else index + 1
        day = _day(tokens, after)
        if day is not None and _valid(None, month, day[0]):
            year = _year(tokens, day[1])
            date = CalendarDate(year[0] if year else None, month, day[0])
            return DateMention((date,), index, year[1] if year else day[1])
        year = _year(tokens, after)
        return DateMention((CalendarDate(year[0], month),), index, year[1]) if year else None
    day = _day(tokens, index)
    if day is None:
        return None
    position = day[1] + 1 if _text(tokens, day[1]) == "of" else day[1]
    month = _month(tokens, position) if position < len(tokens) else None
    if month is None or not _valid(None, month, day[0]):
        return None
    year = _year(tokens, position + 1)
    return DateMention(
        (CalendarDate(year[0] if year else None, month, day[0]),), index, year[1] if year else position + 1
    )


def time_at(tokens: Sequence[Token], index: int) -> TimeMention | None:
    """Return the time of day that starts at tokens[index] ("9:30", "9.30 am", "9pm", "noon"), or None."""
    token = tokens[index]
    if token.lower in ("noon", "midday", "midnight"):
        return TimeMention(0 if token.lower == "midnight" else 720, True, index, index + 1)
    if token.kind != "number":
        return None
    half, end = token.suffix, index + 1
    if not half and _text(tokens, end) in ("am", "pm"):
        half, end = _text(tokens, end), end + 1
    if half not in ("", "am", "pm"):
        return None
    separator = ":" if ":" in token.number else "."
    parts = token.number.split(separator)
    if len(parts) > 2 or not all(p.isdecimal() for p in parts) or (len(parts) == 2 and len(parts[1]) != 2):
        return None
    if not half and separator != ":":
        return None
    if not half and len(parts) == 1:
        return None
    hour, minute = int(parts[0]), int(parts[1]) if len(parts) == 2 else 0
    if hour > 24 or minute > 59 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    known = bool(half) or hour > 12 or hour == 0 or parts[0].startswith("0")
    return TimeMention(hour % 24 * 60 + minute, known, index, end)


def same_time(a: TimeMention, b: TimeMention) -> bool:
    """Return whether two times of day agree. A time without a.m. or p.m. agrees with both."""
    if a.half_known and b.half_known:
        return a.minutes == b.minutes
    return a.minutes % 720 == b.minutes % 720
