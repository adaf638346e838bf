"""Find answer spans that are dates and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from generation.english import words
from generation.english.tokens import Token
from generation.synthetic_questions.spans import AnswerSpan
from model.english import MONTHS, word_set

_YEAR: Final = re.compile(r"(?:1\d|20)\d\ds?$|\d{3}s?$")
_DIGITS: Final = re.compile(r"[$£€]?\d")
_BEFORE_YEAR: Final = word_set("in since until by from of early late to and between after before during around , about")
_ROUGH: Final = word_set("about around over nearly approximately roughly almost some only just")


def date_spans(tokens: Sequence[Token]) -> Iterator[AnswerSpan]:
    """Yield years, months, days and centuries: "12 May 1902", "late 1960s", "the 5th century BC"."""
    index = 0
    while index < len(tokens):
        end = _date_end(tokens, index)
        if end > index:
            left = index
            while left > 0 and tokens[left - 1].low in ("the", "early", "late", "mid", "about", "around", "c"):
                left -= 1
            start = left + 1 if tokens[left].low == "the" and left < index else left
            start = index if tokens[start].low in ("about", "around", "c") else start
            if not (end < len(tokens) and tokens[end].tag in "NJX" and tokens[end - 1].low[-1:] != "s"):
                yield AnswerSpan(start, end, left, end, "date")
            index = end
        else:
            index += 1


def _date_end(tokens: Sequence[Token], at: int) -> int:
    low = tokens[at].low
    after = tokens[at + 1].low if at + 1 < len(tokens) else ""
    if low in MONTHS and tokens[at].text[0].isupper():
        end = at + 1
        if end < len(tokens) and re.fullmatch(r"\d\d?(st|nd|rd|th)?", tokens[end].low):
            end += 1
        if end + 1 < len(tokens) and tokens[end].low == "," and _YEAR.match(tokens[end + 1].low):
            return end + 2
        if end < len(tokens) and _YEAR.match(tokens[end].low):
            return end + 1
        return end if low not in ("may", "march") or end > at + 1 else at
    if re.fullmatch(r"\d\d?(st|nd|rd|th)?", low) and after in MONTHS:
        return _date_end(tokens, at + 1)
    if re.fullmatch(r"(\d\d?(st|nd|rd|th)|[a-z]+th|first|second|third)", low) and after in ("century", "centuries"):
        return at + 3 if at + 2 < len(tokens) and tokens[at + 2].low in ("bc", "bce", "ad", "ce") else at + 2
    if _YEAR.match(low):
        if after in ("bc", "bce", "ad", "ce"):
            return at + 2
        before = tokens[at - 1].low if at else ""
        if (
            re.match(r"(?:1\d|20)\d\ds?$", low)
            and (low.endswith("s") or before in _BEFORE_YEAR)
            and after not in words.UNITS
            and after != "%"
        ):
            return at + 1
    return at


def number_spans(tokens: Sequence[Token]) -> Iterator[AnswerSpan]:
    """Yield counts of things, percentages, sums of money, and quantities with a unit."""
    index = 0
    while index < len(tokens):
        if tokens[index].tag != "#" or _date_end(tokens, index) > index or (index and tokens[index - 1].low in MONTHS):
            index += 1
            continue
        end = index + 1
        while end < len(tokens) and (
            tokens[end].low in words.SCALES or (tokens[end].tag == "#" and not _DIGITS.match(tokens[end].low))
        ):
            end += 1
        money = tokens[index].text[0] in "$£€"
        following = tokens[end].low if end < len(tokens) else ""
        left = _quantified(tokens, index)
        before = tokens[left - 1].low if left else ""
        beyond = tokens[end + 1].tag if end + 1 < len(tokens) else "."
        if (
            before in ("last", "next", "past", "than", "and", "or", "to", "between", "under", "first", "further")
            or (left and tokens[left - 1].tag in "XN")
            or (following in ("%", "percent", *words.UNITS) and beyond in "JN")
        ):
            pass
        elif following in ("%", "percent"):
            yield AnswerSpan(index, end + 1, left, end + 1, "measure", "percentage")
        elif money:
            yield AnswerSpan(index, end, left, end, "measure", "money")
        elif following in words.UNITS:
            yield AnswerSpan(index, end + 1, left, end + 1, "measure", following)
        elif not re.fullmatch(r"1[5-9]\d\d|20[0-3]\d", tokens[index].low) and tokens[index].low[-2:] not in (
            "st",
            "nd",
            "rd",
            "th",
        ):
            right = end
            while right < len(tokens) and tokens[right].tag in "JNG":
                right += 1
            if right > end and tokens[right - 1].tag == "N" and right - end <= 3:
                left = left - 1 if left and tokens[left - 1].tag == "D" else left
                yield AnswerSpan(index, end, left, right, "number")
        index = end


def _quantified(tokens: Sequence[Token], at: int) -> int:
    """Return the start of the words that qualify a number ("about 60", "more than 60"); ``at`` if there are none."""
    if at and tokens[at - 1].low in _ROUGH:
        return at - 1
    pair = (tokens[at - 2].low, tokens[at - 1].low) if at > 1 else ("", "")
    return (
        at - 2 if pair in (("more", "than"), ("less", "than"), ("fewer", "than"), ("up", "to"), ("at", "least")) else at
    )
