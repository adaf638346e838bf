"""Superscripts and subscripts as plain text: powers, indices, note marks and fractions keep their meaning."""

from __future__ import annotations

import re
from typing import Literal

Level = Literal["sup", "sub"]

_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|re|e|ème|º|ª|o|a|TM|SM|®|©|™)\.?", re.IGNORECASE)
_NOTE = re.compile(r"[\d*†‡§,–-]{1,7}|[a-z]")
_WORD = re.compile(r"[^\W\d_]{3,}$|[.,;:!?\"'”’»)\]]$")
_GROUPED = re.compile(r"(?:\d[.,]\d+|(?<![\d^])\d{4,})$")
_CHEMICAL = re.compile(r"(?:(?<![a-z])[A-Z][a-z]?|[)\]])$")
_SIMPLE = re.compile(r"[-+−]?\w+")


def raised_text(before: str, content: str, level: Level, after: str = "", *, is_link: bool = False) -> str:
    """What to write for ``content``, raised ("sup") or lowered ("sub") behind ``before``.

    before: the characters directly in front of it, without white space between; empty at the beginning of a word.
    after: those directly behind. is_link: whether it leads elsewhere, as note marks do. 10 and 3 give ``^3``; 1,250 and
    2 a note mark of its own, `` [2]``; H and 2 ``2``; x and 1 ``_1``; 2 and 1 before a slash `` 1``, a mixed number.
    """
    content = " ".join(content.split())
    if not content or not before or before[-1] in "/⁄" or before[-1].isspace():
        return content
    if after[:1] in ("/", "⁄") and level == "sup":
        return f" {content}" if before[-1].isdigit() else content
    if level == "sub":
        return content if _CHEMICAL.search(before) and content.isdigit() else f"_{_grouped(content)}"
    if content.startswith(("[", "(", "^")) or _ORDINAL.fullmatch(content):
        return content
    if is_link or (_NOTE.fullmatch(content) and _is_note(before, content)):
        return f" [{content}]"
    return f"^{_grouped(content)}"


def _is_note(before: str, content: str) -> bool:
    """Whether a mark behind these characters is a note's: behind words, punctuation, amounts and years."""
    if not content[0].isalnum() and content[0] != "-":
        return True
    return _WORD.search(before) is not None or _GROUPED.search(before) is not None


def _grouped(content: str) -> str:
    return content if _SIMPLE.fullmatch(content) else f"({content})"
