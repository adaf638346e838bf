"""Parse numbers as exact fractions: digits, words, scales, fractions and ordinals.

Dates are not parsed. Of units, only letters attached to digits are recognised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from evaluation.language.normalise import Token, is_sign
from evaluation.language.units import units_named
from model.english import CARDINALS, ORDINALS, TENS

_ONES = {word: value for value, word in enumerate(CARDINALS[:20])} | {"nil": 0, "none": 0}
# Number words that are also English words ("due", "once", "Sept") are omitted.
_ONES |= {
    word: value
    for value, words in (
        (2, "zwei deux dois twee два две"),
        (3, "drei trois tres drie три"),
        (4, "vier quatre cuatro quatro quattro четыре"),
        (5, "funf cinq cinco cinque vijf пять"),
        (6, "sechs seis zes шесть"),
        (7, "sieben siete sette zeven семь"),
        (8, "acht huit ocho oito otto восемь"),
        (9, "neun neuf nueve nove negen девять"),
        (10, "zehn dix diez dieci tien десять"),
        (11, "onze undici одиннадцать"),
        (12, "zwolf douze doce doze dodici twaalf двенадцать"),
        (14, "vierzehn quatorze catorce quattordici четырнадцать"),
        (15, "funfzehn quinze quince quindici пятнадцать"),
    )
    for word in words.split()
}
_TENS = {word: 10 * (i + 2) for i, word in enumerate(TENS)}
_SCALES = {
    **{"lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7},
    **{"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12},
}
_SHORT_SCALES = {"k": 10**3, "mn": 10**6, "mln": 10**6, "bn": 10**9, "tn": 10**12, "million": 10**6, "billion": 10**9}
_ORDINALS = {word: value for value, word in enumerate(ORDINALS) if value} | {
    "thirtieth": 30,
    "fortieth": 40,
    "fiftieth": 50,
    "hundredth": 100,
}
_PARTS = {"half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourths": 4, "fifth": 5}
_PARTS |= {"fifths": 5, "sixths": 6, "eighths": 8, "tenth": 10, "tenths": 10}
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
_GROUPS = {"dozen": 12, "score": 20}


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number in tokens[start:end].

    times: whether it counts occasions ("twice").
    year: whether it may be a year ("1999").
    """

    value: Fraction
    start: int
    end: int
    ordinal: bool = False
    times: bool = False
    year: bool = False
    fraction: bool = False

    @property
    def step(self) -> Fraction:
        """Value of the last decimal place; 1 for an integer."""
        below, digits = self.value.denominator, 0
        while below > 1 and digits < 12:
            below, digits = (
                (below // 10 if below % 10 == 0 else below // 5 if below % 5 == 0 else below // 2),
                digits + 1,
            )
        return Fraction(1, 10**digits)


def _word(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].lower if index < len(tokens) else ""


_LARGEST = Fraction(10) ** 300
"""Value from which scale words such as "million" are ignored, so that repeating them does not create huge numbers."""


def _below_hundred(tokens: Sequence[Token], index: int) -> Numeral | None:
    """Parse "fourteen", "twenty-one" or "twenty first" at index, or return None."""
    word = _word(tokens, index)
    if word in _ONES:
        return Numeral(Fraction(_ONES[word]), index, index + 1)
    if word not in _TENS:
        return None
    following = index + 2 if _word(tokens, index + 1) == "-" else index + 1
    unit = _word(tokens, following)
    if 0 < _ONES.get(unit, 0) < 10:
        return Numeral(Fraction(_TENS[word] + _ONES[unit]), index, following + 1)
    if 0 < _ORDINALS.get(unit, 0) < 10:
        return Numeral(Fraction(_TENS[word] + _ORDINALS[unit]), index, following + 1, ordinal=True)
    return Numeral(Fraction(_TENS[word]), index, index + 1)


def _words(tokens: Sequence[Token], index: int) -> Numeral | None:
    """Parse number words: "twelve hundred", "one million two hundred thousand and five", "nineteen ninety-nine"."""
    first = _below_hundred(tokens, index)
    article = _word(tokens, index) in ("a", "an")
    if first is None and article and _word(tokens, index + 1) in ("hundred", *_SCALES, *_GROUPS):
        first = Numeral(Fraction(1), index, index + 1)
    if first is None or first.ordinal:
        return first
    second = _below_hundred(tokens, first.end)
    if second is not None and 13 <= first.value <= 20 and second.value >= 10:
        return Numeral(first.value * 100 + second.value, index, second.end, year=True)
    total, current, end = Fraction(0), first.value, first.end
    while end < len(tokens) and total + current < _LARGEST:
        word = _word(tokens, end)
        part = _below_hundred(tokens, end + 1 if word == "and" else end)
        if word == "hundred" and 0 < current < 100:
            current, end = current * 100, end + 1
        elif word in _SCALES and current > 0:
            total, current, end = total + current * _SCALES[word], Fraction(0), end + 1
        elif word in _GROUPS and total == 0:
            current, end = current * _GROUPS[word], end + 1
        elif part is not None and not part.ordinal and (current % 100 == 0 and (current or total)):
            current, end = current + part.value, part.end
        else:
            break
    return Numeral(total + current, index, end)


def _digits(tokens: Sequence[Token], index: int) -> Numeral | None:
    """Parse digits with an attached suffix or scale: "1,200", "1.5 million", "40k", "3rd", "-5"."""
    token = tokens[index]
    plain = token.number.replace(",", "")
    if token.kind != "number" or ":" in plain or plain.count(".") > 1:
        return None
    value, end = Fraction(plain), index + 1
    if token.suffix in ("st", "nd", "rd", "th"):
        return Numeral(value, index, end, ordinal=True)
    if token.suffix in _SHORT_SCALES:
        return Numeral(value * _SHORT_SCALES[token.suffix], index, end)
    if token.suffix:
        # "1990s", "4X" and "A4" are names; "40km" is 40 and a unit.
        decade = token.suffix == "s" and value % 10 == 0 and value >= 1000
        return None if decade or not units_named(token.suffix) else Numeral(value, index, end)
    return _scaled(tokens, index, value)


def _scaled(tokens: Sequence[Token], index: int, value: Fraction) -> Numeral:
    """Parse digits at index followed by a scale ("1.5 million") or a denominator ("1/2")."""
    token, end = tokens[index], index + 1
    glued_slash = _word(tokens, end) == "/" and end + 1 < len(tokens) and tokens[end + 1].kind == "number"
    if glued_slash and _word(tokens, end + 2) != "/" and tokens[end + 1].number.isdecimal():
        below = int(tokens[end + 1].number)
        if value.denominator == 1 and value < below <= 100:
            return Numeral(value / below, index, end + 2, fraction=True)
    scaled = False
    while value < _LARGEST and (
        (scale := _word(tokens, end)) in _SCALES or scale == "hundred" or (scale in _SHORT_SCALES and scale != "k")
    ):
        value *= _SCALES.get(scale, _SHORT_SCALES.get(scale, 100))
        end, scaled = end + 1, True
    if _word(tokens, end) == "dozen":
        return Numeral(value * 12, index, end + 1)
    year = not scaled and "," not in token.number and value.denominator == 1 and 1000 <= value <= 2199
    return Numeral(value, index, end, year=year)


def _part(tokens: Sequence[Token], index: int) -> Numeral | None:
    """Parse "half", "a quarter", "two thirds" or "half a dozen" at index, or return None."""
    start = index
    count = 1
    if _word(tokens, index) in ("a", "an"):
        index += 1
    elif _word(tokens, index) in _ONES:
        count, index = _ONES[_word(tokens, index)], index + 1
        if _word(tokens, index) == "-":
            index += 1
        if _word(tokens, index) not in _PARTS:
            return None
    elif _word(tokens, index) != "half":
        return None
    parts = _PARTS.get(_word(tokens, index))
    if parts is None:
        return None
    value, end = Fraction(count, parts), index + 1
    if _word(tokens, end) in ("a", "an") and _word(tokens, end + 1) in ("dozen", "million", "billion", "thousand"):
        times = 12 if _word(tokens, end + 1) == "dozen" else _SCALES[_word(tokens, end + 1)]
        return Numeral(value * times, start, end + 2)
    return Numeral(value, start, end, fraction=True)


def numeral_at(tokens: Sequence[Token], index: int) -> Numeral | None:
    """Return the longest number that starts at tokens[index], or None."""
    if tokens[index].text == "-" and is_sign(tokens, index):
        inner = _digits(tokens, index + 1)
        return None if inner is None else Numeral(-inner.value, index, inner.end)
    if tokens[index].lower == "minus" and index + 1 < len(tokens):
        inner = numeral_at(tokens, index + 1)
        return None if inner is None or inner.ordinal else Numeral(-inner.value, index, inner.end)
    word = tokens[index].lower
    if word in _TIMES:
        return Numeral(Fraction(_TIMES[word]), index, index + 1, times=True)
    part = _part(tokens, index)
    if part is not None:
        return part
    if word in _ORDINALS and not (
        word == "second" and index and tokens[index - 1].lower in ("a", "per", "one", "every")
    ):
        return Numeral(Fraction(_ORDINALS[word]), index, index + 1, ordinal=True)
    found = _digits(tokens, index) or _words(tokens, index)
    if found is None or found.ordinal:
        return found
    mixed = found.end + (1 if _word(tokens, found.end) == "and" else 0)
    if mixed < len(tokens) and found.value.denominator == 1 and not tokens[found.end - 1].suffix:
        rest = _part(tokens, mixed) if tokens[mixed].kind == "word" else _digits(tokens, mixed)
        if rest is not None and rest.fraction:
            return Numeral(found.value + rest.value, index, rest.end)
    return found
