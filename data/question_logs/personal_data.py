"""Detect and replace e-mail addresses, telephone numbers and payment card numbers by rules.

Other personal data (names, addresses, account numbers) is not detected, so a person should review a set before it is
shared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

PersonalKind = Literal["e-mail", "phone", "card"]
_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])")
_DIGITS: Final = re.compile(r"(?<![\w.])(?:\d[ -]?){12,18}\d(?![\w])")
_PHONE: Final = re.compile(
    r"(?<![\w.,])(?:\+|00)\d{1,3}(?:[ \-./]?\(?\d{1,5}\)?){2,6}(?![\w])|"  # with a country code
    r"(?<![\w.,])\(?0\d{1,5}\)?[ \-./](?:\d{2,5}[ \-./]?){1,4}\d(?![\w])|"  # with a trunk zero
    r"(?<![\w.,])(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w])|"  # North American
    r"(?<![\w.,])0\d{8,11}(?![\w])"
)
_MIN_DIGITS, _MAX_DIGITS = 7, 15  # digits of a telephone number (ITU-T E.164: at most 15)


@dataclass(frozen=True, slots=True)
class PersonalData:
    """An item that was replaced. start, end: its offsets in the original text."""

    kind: PersonalKind
    start: int
    end: int


def without_personal_data(text: str) -> tuple[str, tuple[PersonalData, ...]]:
    """Replace each item of personal data by its kind in brackets, and return the text and the items, in order."""
    found: list[PersonalData] = [PersonalData("e-mail", m.start(), m.end()) for m in _EMAIL.finditer(text)]
    for match in _DIGITS.finditer(text):
        digits = re.sub(r"\D", "", match.group())
        if 13 <= len(digits) <= 19 and luhn(digits) and not _inside(match.start(), found):
            found.append(PersonalData("card", match.start(), match.end()))
    for match in _PHONE.finditer(text):
        digits = re.sub(r"\D", "", match.group())
        if _MIN_DIGITS <= len(digits) <= _MAX_DIGITS + 2 and not _inside(match.start(), found):
            found.append(PersonalData("phone", match.start(), match.end()))
    found.sort(key=lambda one: one.start)
    pieces, last = [], 0
    for one in found:
        pieces += [text[last : one.start], f"[{one.kind}]"]
        last = one.end
    return "".join([*pieces, text[last:]]), tuple(found)


def luhn(digits: str) -> bool:
    """Return whether a number's check digit is valid (ISO/IEC 7812-1, annex B).

    Returns False for a single repeated digit, which is not a card number.
    """
    if len(set(digits)) == 1:
        return False
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if position % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _inside(position: int, found: list[PersonalData]) -> bool:
    return any(one.start <= position < one.end for one in found)
