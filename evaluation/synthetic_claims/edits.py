"""A claim after an edit, and the words of it that the edit made wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CONSONANT_SOUND = ("uni", "use", "usu", "eu", "one", "once", "ura", "uti", "ute")
_VOWEL_SOUND = ("hour", "honest", "honor", "honour", "heir")


@dataclass(frozen=True, slots=True)
class EditedClaim:
    """text, and (start, end) of each piece that the evidence does not support, in characters of the text."""

    text: str
    wrong: tuple[tuple[int, int], ...]

    def after(self, prefix: str) -> EditedClaim:
        """The same behind ``prefix``."""
        n = len(prefix)
        return EditedClaim(prefix + self.text, tuple((start + n, end + n) for start, end in self.wrong))


def replaced(text: str, start: int, end: int, new: str) -> EditedClaim:
    """text with text[start:end] replaced by ``new``; a preceding "a" or "an" agrees with it, and all of it is wrong."""
    before, after = text[:start], text[end:]
    article = re.search(r"\b([Aa])n? $", before)
    if article and new:
        before = before[: article.start()] + article[1] + ("n " if starts_with_vowel(new) else " ")
    return EditedClaim(before + new + after, ((len(before), len(before) + len(new)),))


def starts_with_vowel(word: str) -> bool:
    """Whether "an" goes before it: by spelling, with the usual exceptions."""
    low = word.lower()
    if low.startswith(_VOWEL_SOUND) or re.match(r"(8|11\b|18\b)", low):
        return True
    return low[:1] in "aeiou" and not low.startswith(_CONSONANT_SOUND) and low[:1] != ""


def capitalised(text: str) -> str:
    """text with its first letter in upper case."""
    return text[:1].upper() + text[1:]
