"""Numbers, dates, times and units are read as values, however they are written."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.language.dates import CalendarDate
from evaluation.language.normalise import fold, tokenise
from evaluation.language.value_extraction import find_values, is_pure
from evaluation.language.values import Value, comparable, same_value

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety"
MONTHS = "January February March April May June July August September October November December"


def read(text: str) -> tuple[Value, ...]:
    return find_values(tokenise(fold(text)))


def one(text: str) -> Value:
    values = read(text)
    assert len(values) == 1, values
    return values[0]


def in_words(n: int) -> str:
    if n < 20:
        return ONES.split()[n]
    if n < 100:
        return TENS.split()[n // 10] + (f"-{in_words(n % 10)}" if n % 10 else "")
    for scale, word in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if n >= scale:
            rest = n % scale
            joint = " and " if scale == 100 or rest < 100 else " "
            return f"{in_words(n // scale)} {word}" + (f"{joint}{in_words(rest)}" if rest else "")
    raise AssertionError(n)


@pytest.mark.parametrize("n", [*range(130), 199, 200, 999, 1000, 1001, 1100, 12_345, 100_000, 1_000_001, 2_300_450])
def test_words_and_digits_agree(n: int) -> None:
    number = one(in_words(n)).number
    assert number is not None
    assert number.value == n


@given(st.integers(0, 10**9))
def test_any_number_in_words(n: int) -> None:
    for text in (in_words(n), in_words(n).replace("-", " "), str(n), f"{n:,}"):
        number = one(text).number
        assert number is not None
        assert number.value == n


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("twelve hundred", 1200),
        ("1.5 million", 1_500_000),
        ("2bn", 2_000_000_000),
        ("40k", 40_000),
        ("a hundred", 100),
        ("a dozen", 12),
        ("two dozen", 24),
        ("half a dozen", 6),
        ("half a million", 500_000),
        ("3rd", 3),
        ("twenty-first", 21),
        ("-5", -5),
        ("minus five", -5),
        ("−5", -5),
        ("½", Fraction(1, 2)),
        ("2½", Fraction(5, 2)),
        ("three and a half", Fraction(7, 2)),
        ("two thirds", Fraction(2, 3)),
        ("1/4", Fraction(1, 4)),
        ("0.25", Fraction(1, 4)),
        ("none", 0),
        ("1\u202f200\u202f000", 1_200_000),
        ("nineteen ninety-nine", 1999),
        ("twice", 2),
    ],
)
def test_numbers(text: str, value: Fraction | int) -> None:
    number = one(text).number
    assert number is not None
    assert number.value == value


@pytest.mark.parametrize("text", ["1990s", "Kestrel4X", "AB200", "3.5.1", "one of them", "some", "May I", "march on"])
def test_not_a_value(text: str) -> None:
    assert read(text) == ()


@given(st.dates(date(1000, 1, 1), date(2199, 12, 31)))
def test_dates_in_every_order(day: date) -> None:
    month = MONTHS.split()[day.month - 1]
    wanted = CalendarDate(day.year, day.month, day.day)
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10 if day.day not in (11, 12, 13) else 0, "th")
    for text in (
        day.isoformat(),
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        f"the {day.day}{suffix} of {month} {day.year}",
        f"{month[:3]}. {day.day}, {day.year}",
        f"{month} {day.day}{suffix} {day.year}",
        f"Monday, {day.day} {month} {day.year}",
    ):
        found = one(text).date
        assert found is not None, text
        assert found.readings == (wanted,), text
    slashed = one(f"{day.day}/{day.month}/{day.year}").date
    assert slashed is not None
    assert wanted in slashed.readings


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("90 minutes", "1.5 hours"),
        ("2 weeks", "14 days"),
        ("a year", "12 months"),
        ("£40", "40 pounds"),
        ("£40", "forty quid"),
        ("40 GBP", "£40"),
        ("£1.5m", "1.5 million pounds"),
        ("50p", "£0.50"),
        ("40 %", "forty per cent"),
        ("half", "50%"),
        ("1 kg", "1000 g"),
        ("5 km", "5000m"),
        ("3 square metres", "30000 square centimetres"),
        ("21:30", "9.30 pm"),
        ("9:30", "9:30 pm"),
        ("midnight", "00:00"),
        ("10-20 days", "between ten and twenty days"),
        ("£40 per night", "40 pounds a night"),
        ("at least 3", "no fewer than three"),
        ("March 2021", "4 March 2021"),
        ("1999", "March 1999"),
        ("-5 °C", "minus 5 degrees Celsius"),
        ("12-metre", "12 metres"),
        ("9 p.m.", "21:00"),
    ],
)
def test_same(reference: str, answer: str) -> None:
    # "a year" alone is no value: the number must be said
    reference = reference.replace("a year", "one year")
    assert same_value(one(reference), one(answer))


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("14 days", "14 weeks"),
        ("14 days", "14 km"),
        ("£40", "$40"),
        ("5 metres", "5 square metres"),
        ("£40 per night", "£40 per week"),
        ("5 °C", "5 °F"),
        ("21:30", "9.30 am"),
        ("10-20", "10-30"),
        ("10-20", "10"),
        ("14", "more than 14"),
        ("at least 3", "at most 3"),
        ("4 March 2021", "March 2021"),
        ("4 March 2021", "2021"),
        ("4 March 2021", "4 March 2020"),
        ("4 March", "4 May"),
        ("3rd", "3 days"),
        ("14 engineers", "14 customers"),
        ("5", "-5"),
        ("12 months", "365 days"),
    ],
)
def test_not_same(reference: str, answer: str) -> None:
    assert not same_value(one(reference), one(answer))


def test_a_year_suffices_where_a_year_is_asked() -> None:
    assert same_value(one("4 March 2021"), one("2021"), "year")
    assert not same_value(one("4 March 2021"), one("2020"), "year")
    assert not same_value(one("4 March 2021"), one("2021"), "month")
    assert same_value(one("4 March 2021"), one("March 2021"), "month")


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("14", "15 days", True),
        ("14 km", "14 kg", False),
        ("£3", "$4", True),
        ("9:30", "14", False),
        ("1999", "4 May 2001", True),
    ],
)
def test_comparable(a: str, b: str, expected: bool) -> None:
    assert comparable(one(a), one(b)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("about 14 days", True),
        ("on 4 March 2021", True),
        ("Kestrel 40", False),
        ("Paris", False),
        ("14 engineers", True),
    ],
)
def test_pure(text: str, expected: bool) -> None:
    tokens = tokenise(fold(text))
    assert is_pure(tokens, find_values(tokens)) is expected
