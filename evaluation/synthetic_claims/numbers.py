"""Replacement of numbers, years, dates, months and weekdays of a sentence by others of the same form."""

from __future__ import annotations

import re
from random import Random

from evaluation.synthetic_claims.edits import EditedClaim, replaced
from model import english
from model.english import CARDINALS, ORDINALS, TENS

MONTHS = tuple(month.capitalize() for month in english.MONTHS)
DAYS = tuple(day.capitalize() for day in english.WEEKDAYS)
_UNITS = (
    ("kilometres", "metres", "miles"),
    ("kilometers", "meters", "miles"),
    ("km", "miles"),
    ("kilograms", "grams", "tonnes"),
    ("kg", "tons"),
    ("seconds", "minutes", "hours"),
    ("days", "weeks", "months", "years", "hours"),
    ("centuries", "decades"),
    ("feet", "inches", "metres"),
    ("acres", "hectares"),
    ("dollars", "pounds", "euros"),
    ("million", "billion", "thousand"),
    ("litres", "gallons"),
    ("kelvin", "degrees"),
)
_UNIT_OF = {word: tuple(other for other in group if other != word) for group in _UNITS for word in group}
_UNIT = "|".join(sorted(_UNIT_OF, key=len, reverse=True))
_FIND = re.compile(
    r"(?P<month>\b(?:January|February|March|April|June|July|August|September|October|November|December)\b"
    r"|\bMay\b(?= \d))"
    r"|(?P<day>\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b)"
    r"|(?P<decade>(?<![\d.,–-])1[5-9]\d0s|20[01]0s)"
    r"|(?P<ordinal>(?<![\w.])\d{1,2}(?:st|nd|rd|th)\b)"
    r"|(?P<number>(?<![\w.,/–-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w/]|[.,–-]\d))"
    rf"|(?P<unit>(?:(?<=\d )|(?<=two )|(?<=three )|(?<=four )|(?<=five )|(?<=six )|(?<=ten ))(?:{_UNIT})\b)"
    r"|(?P<word>\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty)\b(?!-))"
    r"|(?P<rank>\b(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b(?! (?:\w+ )?(?:time|of all)\b))"
)
_BEFORE_YEAR = re.compile(
    r"(?:\b(?:in|since|until|by|of|from|to|and|before|after|during|early|late|year|around|circa|between|till|for|the|"
    r"January|February|March|April|May|June|July|August|September|October|November|December) |\d, |[(–])$",
    re.IGNORECASE,
)
_NAME_BEFORE = re.compile(r"(?:[A-ZÀ-Þ][\w'’-]*|No\.|Chapter|no\.) $")


def change_number(text: str, chance: Random, used: str = "") -> EditedClaim | None:
    """Change one number, date part, unit or rank; None if there is none.

    used: text of the supporting sentences; the new value must not occur in it, so that the claim becomes false.
    """
    found = [match for match in _FIND.finditer(text) if _changeable(match, text)]
    chance.shuffle(found)
    for match in found[:3]:
        for _ in range(4):
            new = _other(match, text, chance)
            if new is not None and new != match.group() and not re.search(rf"\b{re.escape(new)}\b", used):
                return replaced(text, match.start(), match.end(), new)
    return None


def has_number(text: str) -> bool:
    """Return whether ``change_number`` may apply to the text. This is a fast test."""
    return any(_changeable(match, text) for match in _FIND.finditer(text))


def is_year(text: str, start: int, end: int) -> bool:
    """Return whether the digits at text[start:end] are a year."""
    digits = text[start:end]
    return (
        len(digits) == 4 and digits.isdigit() and "1000" <= digits <= "2029" and bool(_BEFORE_YEAR.search(text[:start]))
    )


def _changeable(match: re.Match[str], text: str) -> bool:
    before = text[: match.start()]
    if match.lastgroup in ("number", "word") and (name := _NAME_BEFORE.search(before)):
        return name.group().strip() in MONTHS or (name.start() == 0 and bool(_BEFORE_YEAR.search(before)))
    return True


def _other(match: re.Match[str], text: str, chance: Random) -> str | None:
    old, kind = match.group(), match.lastgroup
    if kind == "month":
        return chance.choice([m for m in MONTHS if m != old])
    if kind == "day":
        return chance.choice([d for d in DAYS if d != old])
    if kind == "decade":
        return f"{int(old[:4]) + chance.choice((-30, -20, -10, 10, 20))}s"
    if kind == "ordinal":
        return _ordinal(max(1, int(old[:-2]) + chance.choice((-3, -2, -1, 1, 2, 3))))
    if kind == "unit":
        return chance.choice(_UNIT_OF[old])
    if kind == "word":
        if old in TENS:
            return chance.choice([t for t in TENS[:4] if t != old])
        return CARDINALS[_near(CARDINALS.index(old), 2, 12, chance)]
    if kind == "rank":
        return ORDINALS[_near(ORDINALS.index(old), 2, 10, chance)]
    if is_year(text, match.start(), match.end()):
        return str(_year(int(old), chance))
    following = text[match.end() : match.end() + 12].lower()
    if re.search(
        r"(?:January|February|March|April|May|June|July|August|September|October|November|December) $",
        text[: match.start()],
    ) or re.match(" (?:" + "|".join(MONTHS) + ")", text[match.end() :]):
        return str(_near(int(old), 1, 28, chance)) if old.isdigit() and int(old) < 32 else None
    return _value(old, chance, percent=following.startswith(("%", " percent", " per cent")))


def _near(value: int, low: int, high: int, chance: Random) -> int:
    options = [v for v in range(low, high + 1) if v != value]
    close = [v for v in options if abs(v - value) <= 3]
    return chance.choice(close or options)


def _year(year: int, chance: Random) -> int:
    step = chance.choice((1, 1, 2, 2, 3, 4, 5, 7, 9, 10, 12, 20, 30, 100))
    new = year + chance.choice((-1, 1)) * step
    return new if 1000 <= new <= 2014 or year > 2014 else year - step


def _ordinal(n: int) -> str:
    ending = "th" if n // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def _value(old: str, chance: Random, percent: bool) -> str | None:
    comma = "," in old
    integer, _, fraction = old.replace(",", "").partition(".")
    if len(integer) > 12:
        return None
    decimals = len(fraction)
    digits = int(integer + fraction)
    way = chance.random()
    if way < 0.25 and len(set(str(digits))) > 1:
        swapped = list(str(digits))
        i = chance.randrange(len(swapped) - 1)
        swapped[i], swapped[i + 1] = swapped[i + 1], swapped[i]
        new = int("".join(swapped)) if swapped[0] != "0" else digits
    elif way < 0.7 or digits < 20:
        text = list(str(digits))
        i = chance.randrange(min(2, len(text)))
        text[i] = chance.choice([d for d in "123456789" if d != text[i]])
        new = int("".join(text))
    elif way < 0.85 and not percent:
        new = digits * 10
    else:
        new = int(digits * chance.choice((0.5, 0.6, 0.75, 1.25, 1.5, 2)))
        zeros = len(str(digits)) - len(str(digits).rstrip("0"))
        new = round(new, -zeros) if zeros else new
    if new <= 0 or new == digits or (percent and new >= 100 * 10**decimals):
        return None
    shown = str(new).rjust(decimals + 1, "0")
    integer, fraction = (shown[:-decimals], shown[-decimals:]) if decimals else (shown, "")
    if comma or (len(integer) > 4 and "," in old):
        integer = f"{int(integer):,}"
    return integer + ("." + fraction if fraction else "")
