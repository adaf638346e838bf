"""Detect by rules the numbers and names of a claim that do not occur in its evidence. English only.

This is the entity precision prec_s of Nan et al. 2021 ("Entity-level Factual Consistency of Abstractive Text
Summarization", section 2) for one claim. An uncased encoder that splits numbers into pieces is weak at these, and a
supported claim rarely has one. The rules accept possible variants: 17:30 and 5:30 pm, 1.5 million and 1,500,000, the
16th century and 1536, about 200 and 212, March and 03/04/2021, NIH and National Institutes of Health, Wisconsin and WI,
Wi-Fi and WiFi.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from model.english import CARDINALS, MONTHS, ORDINALS, TENS, WEEKDAYS
from model.verifier.name_forms import other_forms

_SPELT = {
    **{word: str(number) for number, word in enumerate(CARDINALS)},
    **{word: str(number) for number, word in enumerate(ORDINALS[1:13], 1)},
    **{word: str(number) for number, word in zip(range(20, 110, 10), (*TENS, "hundred"), strict=True)},
    **{"once": "1", "twice": "2", "both": "2", "pair": "2", "dozen": "12", "half": "50", "quarter": "25"},
}
_PERCENT = {"tenth": "10", "fifth": "20", "third": "33", "thirds": "67"}
_SCALES = {"thousand": 3, "k": 3, "million": 6, "m": 6, "mn": 6, "billion": 9, "b": 9, "bn": 9, "trillion": 12}
_MONTHS, _DAYS = frozenset(MONTHS), frozenset(WEEKDAYS)
"""Weekdays are never treated as missing, because the evidence may say "tomorrow" instead."""
_NUMBER = re.compile(
    r"(?P<digits>\d+(?:,\d{3})*(?:\.\d+)?)"
    r"(?:(?P<decade>s)\b|(?:st|nd|rd|th)[ -](?P<century>centur)|(?::[0-5]\d)?[ ]?(?P<half>[ap])\.?m\b"
    r"|[ -]?(?P<scale>thousand|million|billion|trillion|k|mn?|bn?)\b)?",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:about|around|approximately|roughly|some|nearly|almost|over|above|under|below|(?:more|less|fewer) than|"
    r"at least|up to|close to)[ ~$£€]*$",
    re.IGNORECASE,
)
_NEAR = 0.2
"""Allowed deviation of a hedged number ("about 200"), relative to it."""

_SHORT_RANGE = re.compile(r"(?<!\d)(\d\d)\d\d ?[–/-] ?(\d\d)(?!\d)")  # 1990–95
_DATE = re.compile(r"(?<!\d)\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?!\d)")
_LETTERS = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"(?<![\w'’.-])[A-Z][a-z][\w'’-]*[a-z]")
_RUN = re.compile(r"(?<![\w'’-])(?:[A-Z][\w'’-]+(?: (?:of|the|and|for) (?:the )?| )){1,7}[A-Z][\w'’-]+")
_ACRONYM = re.compile(r"(?<!\w)(?:[A-Z]\.?){2,8}(?!\w)")
_BEGINS = re.compile(r"[.!?:;…\"“”(\[*•#][\s\"“'‘(\[*]*$")
_LONGEST = 15  # maximum digits of a number used in arithmetic; longer ones are compared as written
_KEPT = 64


class Extrinsic(NamedTuple):
    """Number of distinct numbers and names of a claim that its evidence lacks."""

    numbers: int
    names: int


class _Known(NamedTuple):
    """Precomputed forms of a text.

    lower: the text in lower case. words: words of letters only, in lower case. numbers: in the form that ``_values``
    returns. acronyms: without points. dated: whether the text has a date in digits.
    """

    lower: str
    words: frozenset[str]
    numbers: frozenset[str]
    acronyms: frozenset[str]
    dated: bool


@lru_cache(maxsize=_KEPT)  # called for each window of the evidence
def extrinsic(claim: str, evidence: str, question: str = "") -> Extrinsic:
    """Count a claim's numbers in digits and its names that occur neither in the evidence nor in the question.

    A name is a capitalised word that does not start a sentence. A claim with mostly capitalised words, such as a
    headline, has no names.
    """
    texts = (_known(evidence), _known(question))
    numbers = {_plain(m["digits"]) for m in _NUMBER.finditer(claim) if not any(_has_number(t, m) for t in texts)}
    names = {name for name in _names(claim) if not any(_has_name(t, name) for t in texts)}
    if names:
        names -= {_stem(word) for run in _RUN.findall(claim) for text in texts for word in _abbreviated(text, run)}
    return Extrinsic(len(numbers), len(names))


@lru_cache(maxsize=_KEPT)
def _known(text: str) -> _Known:
    lower = text.lower()
    numbers = {value for match in _NUMBER.finditer(lower) for value in _values(match)}
    numbers |= {match[1] + match[2] for match in _SHORT_RANGE.finditer(lower)}
    words = set(_LETTERS.findall(lower))
    numbers |= {spelt[word] for spelt in (_SPELT, _PERCENT) for word in words & spelt.keys()}
    acronyms = frozenset(match.group().replace(".", "") for match in _ACRONYM.finditer(text))
    return _Known(lower, frozenset(words), frozenset(numbers), acronyms, bool(_DATE.search(lower)))


def _values(match: re.Match[str]) -> set[str]:
    """Return the values that a number may stand for, as digits."""
    plain = _plain(match["digits"])
    found = {plain}
    if len(plain) <= _LONGEST:
        if match["half"]:
            found.add(str(int(float(plain)) % 12 + (12 if match["half"].lower() == "p" else 0)))
        if match["scale"] and (power := _SCALES.get(match["scale"].lower())):
            found.add(_plain(f"{float(plain) * 10**power:.3f}"))
    return found


def _plain(digits: str) -> str:
    digits = digits.replace(",", "")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return digits.lstrip("0") or "0"


def _has_number(known: _Known, match: re.Match[str]) -> bool:
    if not known.numbers.isdisjoint(_values(match)):
        return True
    plain = _plain(match["digits"])
    if match["decade"]:
        return any(len(number) == 4 and number[:3] == plain[:3] for number in known.numbers)
    if match["century"] and len(plain) <= 2 and plain.isdigit():
        return any(len(number) == 4 and number[:2] == str(int(plain) - 1) for number in known.numbers)
    if _HEDGED.search(match.string[max(0, match.start() - 24) : match.start()]) and _near(known, match):
        return True
    # 3.2 for 3.21, and 3 for 3.2: rounded
    return any(number.startswith(f"{plain}.") or plain.startswith(f"{number}.") for number in known.numbers)


def _near(known: _Known, match: re.Match[str]) -> bool:
    """Return whether the text has a number within the tolerance of a hedged number."""
    values = {float(value) for value in _values(match) if len(value) <= _LONGEST}
    there = [float(value) for value in known.numbers if len(value) <= _LONGEST]
    return any(abs(value - number) <= _NEAR * number for number in values for value in there)


def _names(claim: str) -> set[str]:
    words = [word for word in _LETTERS.findall(claim) if len(word) > 3]
    if len(words) > 4 and sum(word[0].isupper() for word in words) > 0.6 * len(words):
        return set()
    found = set()
    for match in _NAME.finditer(claim):
        before = claim[max(0, match.start() - 8) : match.start()]
        if before and claim[: match.start()].strip("\"“'‘([*•# ") and not _BEGINS.search(before):
            found.add(_stem(match.group()))
    return found - _DAYS


def _stem(name: str) -> str:
    return re.sub(r"['’]s?$", "", name).lower()


def _has_name(known: _Known, name: str) -> bool:
    if known.dated and name in _MONTHS:
        return True
    parts = [part for part in re.split(r"[-'’]", name) if len(part) > 2] or [name]
    if all(part[: max(4, len(part) - 3)].removesuffix("s") in known.lower for part in parts):
        return True
    if "-" in name and name.replace("-", "") in known.lower:  # Wi-Fi for WiFi
        return True
    return any(form in known.acronyms if form.isupper() else form in known.words for form in other_forms(name))


def _abbreviated(known: _Known, run: str) -> set[str]:
    """Return the words of a run of capitalised words that the text abbreviates by their initials (US, U.S.)."""
    words = [word for word in run.split() if word[0].isupper()]
    found: set[str] = set()
    for start in range(len(words)):
        for end in range(start + 2, len(words) + 1):
            if "".join(word[0] for word in words[start:end]) in known.acronyms:
                found.update(words[start:end])
    return found
