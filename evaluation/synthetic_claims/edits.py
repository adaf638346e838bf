"""An edited claim with the spans that the edit made wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CONSONANT_SOUND = ("uni", "use", "usu", "eu", "one", "once", "ura", "uti", "ute")
_VOWEL_SOUND = ("hour", "honest", "honor", "honour", "heir")


@dataclass(frozen=True, slots=True)
class EditedClaim:
    """An edited claim. wrong: (start, end) of each unsupported piece, in characters of the text."""

    text: str
    wrong: tuple[tuple[int, int], ...]

    def after(self, prefix: str) -> EditedClaim:
        """Return the claim with ``prefix`` prepended."""
        n = len(prefix)
        return EditedClaim(prefix + self.text, tuple((start + n, end + n) for start, end in self.wrong))


def replaced(text: str, start: int, end: int, new: str) -> EditedClaim:
    """Replace text[start:end] by ``new`` and mark it as wrong. A preceding "a" or "an" is adjusted."""
    before, after = text[:start], text[end:]
    article = re.search(r"\b([Aa])n? $", before)
    if article and new:
        before = before[: article.start()] + article[1] + ("n " if starts_with_vowel(new) else " ")
    return EditedClaim(before + new + after, ((len(before), len(before) + len(new)),))


def starts_with_vowel(word: str) -> bool:
    """Return whether "an" precedes the word, by spelling with the usual exceptions."""
    low = word.lower()
    if low.startswith(_VOWEL_SOUND) or re.match(r"(8|11\b|18\b)", low):
        return True
    return low[:1] in "aeiou" and not low.startswith(_CONSONANT_SOUND) and low[:1] != ""


def capitalised(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]
