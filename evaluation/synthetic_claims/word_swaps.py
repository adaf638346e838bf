"""Replacement of words that changes a sentence's meaning: antonyms, quantifiers, directions, relations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from evaluation.synthetic_claims.edits import EditedClaim, replaced
from evaluation.synthetic_claims.swap_words import QUALITIES, RELATIONS

_UNSEEN = 0.3
_TABLES = {"word": QUALITIES, "relation": RELATIONS}
_WORD = re.compile(r"[\w'’-]+")
# Fixed phrases that contain one of the words and must not be changed.
_FIXED = re.compile(
    r"(?:as well as|long before|at first|at last|at least|no longer|not only|so long as|as long as|as far as|more "
    r"or less|"
    r"of all|first of all|above all|in the end|after all|left over|right to|rights?|black hole|white paper|New York|"
    r"low countries|light years?|each other|how (?:many|long|often)|known as|known for|well known|also known|best "
    r"known|"
    r"so[- ]called|high school|all over|long[- ]term|short[- ]term|public school|at all|cold war|right-wing|left-wing|"
    r"good deal|in short|the same time|(?:a|great|as|how|so|too|very) many|high priest|short story|short stories|"
    r"first name|last name|last year|light of|light on|by far|of old|years? old|hours? long|shortly|end of|long "
    r"as|early as|"
    r"late as|new(?=ly)|led to|lead to|many of|some of|before and after|once and for all|led by|all but|short-lived|"
    r"most of|same as|not known|became known|come to be known|to be known|other than|rather than)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _FoundWord:
    """A listed word or phrase at text[start:end]."""

    word: str
    start: int
    end: int


def swap_word(text: str, chance: Random, which: str, counts: Mapping[str, int]) -> EditedClaim | None:
    """Replace one word by one that changes the meaning; None if no word matches or the replacement is rejected.

    which: "word" (qualities, quantities, directions, kinship) or "relation" (verbs). counts: frequency of each word in
    the texts. A replacement by a rarer word is accepted only in that proportion, so that no word is more frequent in
    wrong claims than in correct ones (Hastings 1970, eq. 6: a word with few alternatives is proposed more often).
    """
    found = _swappable(text, which)
    if not found:
        return None
    word = chance.choice(found)
    old = word.word
    new = chance.choice(_TABLES[which][old])
    ways, back = len(_TABLES[which][old]), len(_TABLES[which][new])
    if chance.random() * (counts.get(old, 0) + _UNSEEN) * back >= (counts.get(new, 0) + _UNSEEN) * ways:
        return None
    return replaced(text, word.start, word.end, new)


def has_word(text: str, which: str) -> bool:
    """Return whether ``swap_word`` may apply to the text. This is a fast test."""
    return bool(_swappable(text, which))


def occurrences(text: str) -> list[str]:
    """Return the listed words in a text, for the counts."""
    return [word.word for which in _TABLES for word in _swappable(text, which)]


def _swappable(text: str, which: str) -> list[_FoundWord]:
    """Return the listed words and two-word phrases in the text that are not part of a fixed phrase."""
    table, found, taken = _TABLES[which], [], 0
    words = list(_WORD.finditer(text))
    for index, match in enumerate(words):
        start, end = match.span()
        if start < taken:
            continue
        following = words[index + 1].end() if index + 1 < len(words) else end
        if text[start:following] in table:
            end = following
        elif match.group() not in table:
            continue
        found.append(_FoundWord(text[start:end], start, end))
        taken = end
    fixed = [match.span() for match in _FIXED.finditer(text)] if found else []
    return [p for p in found if not any(start < p.end and p.start < end for start, end in fixed)]
