"""Write superscripts and subscripts as plain text that distinguishes powers, indices, note marks and fractions."""

from __future__ import annotations

import re
from typing import Literal

Level = Literal["sup", "sub"]

_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|re|e|ème|º|ª|o|a|TM|SM|®|©|™)\.?", re.IGNORECASE)
_NOTE_CONTENT = re.compile(r"[\d*†‡§,–-]{1,7}|[a-z]")
_WORD = re.compile(r"[^\W\d_]{3,}$|[.,;:!?\"'”’»)\]]$")
_SHORT_WORD = re.compile(r"(?<![^\W_])(?!mi$|in$|ha$)(?:[a-z][aeiouy]|[aeiouy][a-z])$")  # "it", "of", but not units
_GROUPED = re.compile(r"(?:\d[.,]\d+|(?<![\d^])\d{4,})$")
_CHEMICAL = re.compile(r"(?:(?<![a-z])[A-Z][a-z]?|[)\]])$")
_NUMBER = re.compile(r"(?<!\w)[^\w\s]{0,3}\d[\d.,]*$")
_BASE = re.compile(r"(?<![\d.,])(?:2|10)$")  # Bases of powers outside of a calculation.
_CALCULATION_AFTER = re.compile(r"\s*(?:[=≈≠<>≤≥+×·*^]|[−-]\s?\d)")
_CALCULATION_BEFORE = re.compile(r"[=≈<>≤≥+×·*^√−]\s?\d+$")
_CURRENCIES = frozenset("$€£¥₹₺₽₩")
_CENTS = re.compile(r"\d{2}")
_NOTE_MARK = re.compile(r"[\[(]?(?:[\d*†‡§]{1,4}|[a-z]|[ivx]{1,5})[\])]?")
_SIMPLE = re.compile(r"[-+−]?\w+")


def raised_text(before: str, content: str, level: Level, after: str = "", *, is_link: bool = False) -> str:
    """Return the plain text for raised ("sup") or lowered ("sub") text.

    before: characters directly before it, without white space; "" at the beginning of a word.
    content: the raised or lowered text.
    after: characters directly after it.
    is_link: whether it is a link, as note marks often are.

    Examples: 10 and 3 give ``^3``; 300 and 4 give the note mark `` [4]``; $19 and 99 give ``.99``; H and 2 give ``2``;
    x and 1 give ``_1``; 2 and 1 before a slash give `` 1``, a mixed number.
    """
    content = " ".join(content.split())
    if not content or not before or before[-1] in "/⁄" or before[-1].isspace():
        return content
    if after[:1] in ("/", "⁄") and level == "sup":
        return f" {content}" if before[-1].isdigit() else content
    if level == "sub":
        return content if _CHEMICAL.search(before) and content.isdigit() else f"_{_parenthesised(content)}"
    if content.startswith(("[", "(", "^")) or _ORDINAL.fullmatch(content):
        return content
    if _CENTS.fullmatch(content) and not is_link and _is_price(before, after):
        return f".{content}"
    if is_link or (_NOTE_CONTENT.fullmatch(content) and _is_note(before, content, after)):
        return f" [{content}]"
    return f"^{_parenthesised(content)}"


def is_note_mark(content: str) -> bool:
    """Return whether the text of a link to a note is only the note's mark, not part of a sentence."""
    return _NOTE_MARK.fullmatch(content.strip()) is not None


def _is_price(before: str, after: str) -> bool:
    """Return whether two raised digits are cents: they follow a number with a currency sign before or after it."""
    number = _NUMBER.search(before)
    return number is not None and not _CURRENCIES.isdisjoint((number[0][0], after.lstrip()[:1]))


def _is_note(before: str, content: str, after: str) -> bool:
    """Return whether raised text is a note mark, as after words and punctuation.

    After a number it is a note mark, unless the base is 2 or 10 or the number is part of a calculation.
    """
    if not content[0].isalnum() and content[0] != "-":
        return True
    if any(kind.search(before) for kind in (_WORD, _SHORT_WORD, _GROUPED)):
        return True
    if content[0] in "-–" or _BASE.search(before) or _CALCULATION_BEFORE.search(before):
        return False
    return _NUMBER.search(before) is not None and _CALCULATION_AFTER.match(after) is None


def _parenthesised(content: str) -> str:
    return content if _SIMPLE.fullmatch(content) else f"({content})"
