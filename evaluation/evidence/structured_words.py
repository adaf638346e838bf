"""Conversion of a record's keys and values to words: camel case, underscores, booleans, null, opening hours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_CLOCKS = re.compile(r"(\d{1,2}):(\d{1,2})\s{0,9}(?:-|–|to)\s{0,9}(\d{1,2}):(\d{1,2})")
_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mon|tue|wed|thu|fri|sat|sun", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WRAPPERS = frozenset({"attributes", "attribute", "properties", "specs", "details", "data", "info", "fields", "record"})
_WORDS = dict.fromkeys(("true", "yes"), "yes") | dict.fromkeys(("false", "no"), "no")
_WORDS |= dict.fromkeys(("none", "null", "nan", "n/a", "", "{}", "[]"), "not stated")


@dataclass(frozen=True, slots=True)
class StructuredSentence:
    """A sentence derived from ``original[start:end]``, in characters."""

    text: str
    start: int
    end: int


def split_key(key: str) -> str:
    """Split a key into words: "RestaurantsTakeOut" and "restaurants_take_out" become "restaurants take out".

    Short words in capitals are kept ("HasTV").
    """
    words = re.sub(r"[_\s]+", " ", key.strip().replace("WiFi", "Wifi")).split()
    parts = [part for word in words for part in _CAMEL.sub(" ", word).split()]
    shown = [part if part.isupper() and len(part) < 5 else part.lower() for part in parts]
    return " ".join("WiFi" if part == "wifi" else part for part in shown)


def shown_value(value: str) -> str:
    """Write a value as words: booleans as yes and no, null as "not stated", "17:30-23:0" as two times.

    Other values are unchanged.
    """
    value = value.strip()
    if (word := _WORDS.get(value.lower())) is not None:
        return word
    if match := _CLOCKS.fullmatch(value):
        hours = [int(part) for part in match.groups()]
        if max(hours[0], hours[2]) <= 24 and max(hours[1], hours[3]) < 60:
            both = (hours[0], hours[1]), (hours[2], hours[3])
            exact = " to ".join(f"{hour}:{minute:02d}" for hour, minute in both)
            return f"{exact} ({' to '.join(_twelve(hour, minute) for hour, minute in both)})"
    return " ".join(value.split())


def spoken_path(outer: Sequence[str], key: str) -> str:
    """Return the key after its nearest enclosing keys: "business parking garage", "hours on Monday".

    Generic wrappers are omitted.
    """
    kept = [name for name in outer if name and name.lower() not in _WRAPPERS]
    around = split_key(" ".join(kept[-3:]))
    if _WEEKDAY.fullmatch(key.strip()):
        return f"{around or 'hours'} on {key.strip().capitalize()}"
    return f"{around} {split_key(key)}".strip()


def is_weekday(word: str) -> bool:
    """Return whether the word is a day of the week, in full or as three letters."""
    return _WEEKDAY.fullmatch(word) is not None


def ended(sentence: str) -> str:
    """Return the sentence with a full stop, unless it already ends with a punctuation mark."""
    return sentence if sentence.endswith((".", "!", "?")) else sentence + "."


def _twelve(hour: int, minute: int) -> str:
    half = "PM" if 12 <= hour < 24 else "AM"
    shown = (hour - 1) % 12 + 1
    return f"{shown}:{minute:02d} {half}" if minute else f"{shown} {half}"
