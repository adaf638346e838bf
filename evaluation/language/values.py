"""Define and compare values in text: quantities with units, dates, times of day, ranges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from evaluation.language.dates import CalendarDate, DateMention, TimeMention, same_time
from evaluation.language.numerals import Numeral
from evaluation.language.units import CURRENCIES, Unit, rounded_measure, same_measure

Bound = Literal["", "above", "below", "at least", "at most"]

_LOWER: tuple[Bound, ...] = ("above", "at least")
_UPPER: tuple[Bound, ...] = ("below", "at most")


@dataclass(frozen=True, slots=True)
class Value:
    """One value in tokens[start:end]. Exactly one of number, date, time and range is not None.

    units: possible units of a number; empty if it has none.
    nouns: nouns that a number counts, or the words before its unit.
    per: word after "per"; "" for none.
    bound: comparison that applies to the value ("more than 14"); "" for none.
    """

    start: int
    end: int
    number: Numeral | None = None
    units: tuple[Unit, ...] = ()
    nouns: frozenset[str] = frozenset()
    per: str = ""
    date: DateMention | None = None
    time: TimeMention | None = None
    range: tuple[Value, Value] | None = None
    bound: Bound = ""

    @property
    def canonical(self) -> str:
        """Token that is equal for every spelling of the same value without units."""
        if self.number is not None:
            return f"={self.number.value}"
        if self.date is not None:
            date = self.date.readings[0]
            return f"=date:{date.year}-{date.month}-{date.day}"
        if self.time is not None:
            return f"=time:{self.time.minutes % 720}"
        low, high = self.range or (self, self)
        return f"{low.canonical}..{high.canonical}"


def _year_date(value: Value) -> tuple[CalendarDate, ...]:
    if value.date is not None:
        return value.date.readings
    if value.number is not None and value.number.year and not value.units and value.number.value.denominator == 1:
        return (CalendarDate(int(value.number.value)),)
    return ()


def comparable(a: Value, b: Value) -> bool:
    """Return whether two values are of the same kind, so that one of them can contradict the other."""
    if _year_date(a) and _year_date(b):
        return True
    if a.range is not None or b.range is not None:
        one, other = (a.range or (a,))[0], (b.range or (b,))[0]
        return comparable(one, other)
    if a.number is not None and b.number is not None:
        dimensions = {u.dimension for u in a.units} & {u.dimension for u in b.units}
        warm = {"celsius", "fahrenheit", "kelvin"}
        both_warm = any(u.dimension in warm for u in a.units) and any(u.dimension in warm for u in b.units)
        return bool(dimensions) or not a.units or not b.units or (_is_money(a) and _is_money(b)) or both_warm
    return (a.date is not None and b.date is not None) or (a.time is not None and b.time is not None)


def _is_money(value: Value) -> bool:
    return any(u.name in CURRENCIES or u.dimension in CURRENCIES for u in value.units)


def _bounds_agree(a: Bound, b: Bound) -> bool:
    """Return whether the bounds are compatible.

    "Up to 14" may be given as "14", but "more than 14" may not. "At least" and "at most" exclude each other.
    """
    return a == b or {a, b} in ({"", "at least"}, {"", "at most"})


def _designations(value: Value) -> frozenset[str]:
    return value.nouns | {u.name for u in value.units}


def same_number(reference: Value, answer: Value) -> bool:
    """Return whether two quantities are equal, and their units do not conflict."""
    a, b = reference.number, answer.number
    if a is None or b is None or (reference.per and answer.per and reference.per != answer.per):
        return False
    if a.ordinal != b.ordinal:
        cardinal = answer if a.ordinal else reference
        if cardinal.units or cardinal.nouns:
            return False
    if reference.units and answer.units:
        modifiers = (reference.nouns, answer.nouns)
        if all(modifiers) and not (modifiers[0] <= modifiers[1] or modifiers[1] <= modifiers[0]):
            return False
        return same_measure(a.value, reference.units, b.value, answer.units) or rounded_measure(
            a.value, reference.units, b.value, answer.units, b.step
        )
    ratio = {u.dimension for u in (*reference.units, *answer.units)} == {"ratio"}
    below_one = bool(reference.units) != bool(answer.units) and 0 < (b if reference.units else a).value < 1
    if ratio and (a.fraction or b.fraction or below_one):
        percent, part = (a.value, b.value) if reference.units else (b.value, a.value)
        return percent == part * 100 or percent == part
    if a.value != b.value:
        return False
    one, other = _designations(reference), _designations(answer)
    if not one or not other or ratio:
        return True
    return one <= other or other <= one


def same_value(reference: Value, answer: Value, granularity: str = "") -> bool:
    """Return whether an answer's value matches the reference: equal, in compatible units, not less specific.

    granularity: "year" or "month" if the question asks for only that part of a date, else "".
    """
    if not _bounds_agree(reference.bound, answer.bound):
        return False
    if reference.range is not None and answer.range is not None:
        return all(same_value(r, a) for r, a in zip(reference.range, answer.range, strict=True))
    if reference.range is not None or answer.range is not None:
        return False
    answer_dates = _year_date(answer)
    for reference_date in _year_date(reference) if answer_dates else ():
        for date in answer_dates:
            if date.covers(reference_date):
                return True
            if (
                granularity
                and date.agrees(reference_date)
                and (granularity != "month" or date.month == reference_date.month)
            ):
                return True
    if reference.time is not None and answer.time is not None:
        return same_time(reference.time, answer.time)
    return same_number(reference, answer)


def is_less_specific_date(reference: Value, answer: Value) -> bool:
    """Return whether the answer's date is a correct but smaller part of the reference's ("2021" for "4 March 2021")."""
    return any(a.agrees(r) and not a.covers(r) for r in _year_date(reference) for a in _year_date(answer))


def nearly_same(reference: Value, answer: Value) -> bool:
    """Return whether an answer has the reference's bare value with another bound, in a range, or counting something
    else.

    Such a value is neither support nor a conflict. The same number in another unit is a different value ("14 weeks").
    """
    if reference.time is not None or (reference.bound in _LOWER and answer.bound in _UPPER):
        return False
    if reference.bound in _UPPER and answer.bound in _LOWER:
        return False
    if reference.units and answer.units and not answer.range:
        return answer.bound != reference.bound and same_value(reference, _unbound(answer, reference.bound))
    ends = answer.range or (answer,)
    return any(e.canonical == reference.canonical for e in ends)


def _unbound(value: Value, bound: Bound) -> Value:
    return replace(value, bound=bound)
