"""Recognise finite English verbs by a word list and the ending -ed."""

from __future__ import annotations

import re

from model.english import word_set

_WORD = re.compile(r"\w+(?:['’.-]\w+)*")
FINITE = word_set(
    "is was are were has have had does did do will would can could may might must shall should cannot isn't wasn't "
    "aren't weren't hasn't haven't hadn't doesn't didn't don't won't wouldn't can't couldn't became becomes began "
    "begins bought broke brought built came carries caught chose closes comes contains cost costs covers cut drew "
    "drove ended fell fought found gave gives goes grew held holds includes kept keeps knew lasts led left lies lost "
    "made makes measures meant met needs offers opens owns paid ran requires rose runs sang sat saw says sells sent "
    "serves sits sold spent spoke stands stood swam takes taught took uses wears weighs went won works wrote writes"
)
_NO_VERBS = word_set("need seed feed weed speed indeed hundred sacred naked breed")


def is_finite(word: str) -> bool:
    """Return whether a lower-case word is a finite verb: a listed one, or one that ends in -ed."""
    return word in FINITE or (len(word) > 3 and word.endswith("ed") and word not in _NO_VERBS)


def has_verb(text: str) -> bool:
    """Return whether a text has a known finite verb, so that it is a statement and not only a value."""
    return any(is_finite(m.group().casefold().replace("’", "'")) for m in _WORD.finditer(text))
