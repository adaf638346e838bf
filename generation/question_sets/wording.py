"""Polish rule-generated questions: restore capitals, remove filler words, and reject awkward forms."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import pairwise
from typing import Any, Final

from generation.english.words import DETERMINERS, GROUP_HEADS, PREPOSITIONS, TITLES

_FILLER: Final = re.compile(
    r" (?:then|also|already|still|later|now|however|thus|therefore|therein|only|even|both)(?= )"
)
_WORD: Final = re.compile(r"[^\W\d_][\w’'.-]*")
_BAD: Final = re.compile(
    r"^(?:To|From|Since|Until|By|After|Before|During|For|At|On|Between|Of) when\b|^When had\b|"
    r"\b(?:this|these|those|above|below|following|former|latter|previous|same|such|here)\b|"
    r"\b(?:his|her|its|their|our|my|your|himself|herself|itself|themselves)\b|[’'] |[:;()\"“”]|\bnot\b|n[’']t\b|"
    r"\b(\w+) \1\b|\b(?:the|a|an) (?:in|on|at|by|for|with|from|of|to|and|or|is|was|are|were)\b|"
    r"^(?:With|By) (?:what|which|whom) .*\b(?:with|by)\b|\bbetween \S+\?$|"
    r"\b(?:for|of|in|at|on|to|by|from|with|during|after) that\b|\bfrom \d\S* to \d|"
    r"\b(?:and|or|but|of|than|as|not|very|more|most|only|also|then|there|a|an|the|per|such|like)\?$"
)


_STRANDED: Final = PREPOSITIONS - {"out", "up", "off", "from"}
GROUP_NOUNS: Final = frozenset(GROUP_HEADS.values())


class FixedRandom(random.Random):
    """A deterministic replacement for Random, with which the rules use their most common forms.

    share: the number that ``random`` always returns.
    """

    def __init__(self, share: float = 0.5) -> None:
        super().__init__(0)
        self._share = share

    def random(self) -> float:
        """Return the constant share."""
        return self._share

    def choice(self, seq: Any) -> Any:
        """Return the last item of the sequence."""
        return seq[-1]


def capitalised_words(text: str) -> dict[str, str]:
    """Map lower-case words to the capitalised form that they have inside sentences: "lisbon" -> "Lisbon".

    A word that is a name only before another name has an entry with both: "new york" -> "New".
    """
    upper: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    pairs: dict[str, str] = {}
    last = ""
    for match in _WORD.finditer(text):
        word = match.group().removesuffix("'s").removesuffix("’s").rstrip(".")
        begins = match.start() < 2 or text[match.start() - 2] in ".!?:\n" or text[match.start() - 1] == "\n"
        if word[:1].isupper():
            upper[word] += 0 if begins else 1
            if last:
                pairs[f"{last} {word}".lower()] = last
        else:
            lower[word.lower()] += 1
        inside = word[:1].isupper() and not begins and word.lower() not in DETERMINERS
        last = word if inside and text[match.end() : match.end() + 1] == " " else ""
    return pairs | {word.lower(): word for word, count in upper.items() if count and not lower[word.lower()]}


def _capital(word: str, following: str, names: dict[str, str]) -> str:
    if not word.islower():
        return word
    stem, mark, suffix = word.partition("'" if "'" in word else "’")
    titled = stem in TITLES and following[:1].isupper()
    pair = names.get(f"{stem} {following.lower().rstrip('?')}", "")
    return (stem.capitalize() if titled else pair or names.get(stem, stem)) + mark + suffix


def polish(question: str, names: dict[str, str]) -> str | None:
    """Return the question with capitalised names and without filler words; None if its form is awkward."""
    text = _FILLER.sub("", question)
    text = re.sub(r"\s+(?=['’]s\b)", "", text)
    head, *rest = text.split(" ")
    before = [head.lower(), *(word.lower() for word in rest)]
    restored = [
        word.lower()
        if previous in ("what", "which") and word.lower() in GROUP_NOUNS
        else _capital(word, following, names)
        for previous, word, following in zip(before, rest, [*rest[1:], ""], strict=False)
    ]
    text = " ".join([head, *restored])
    if any(one in _STRANDED and other in PREPOSITIONS for one, other in pairwise(before)):
        return None
    last = text.rstrip("?").rsplit(" ", 1)[-1].lower()
    if _BAD.search(text) or (last in PREPOSITIONS and last not in ("by", "for", "of", "from", "with", "to")):
        return None
    words = text.rstrip("?").split()
    return text if 5 <= len(words) <= 24 else None
