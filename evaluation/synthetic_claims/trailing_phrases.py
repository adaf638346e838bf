"""Extraction of adjuncts at the end of sentences ("in 1987", "because of its cost"), to add them to other sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evaluation.synthetic_claims.numbers import MONTHS

_TAIL = re.compile(
    r",? (?P<lead>in|on|at|during|after|before|with|without|because of|because|for|from|near|until|since|under|"
    r"through|along with|"
    r"as part of|despite|due to|where|while|in order to|alongside|together with|thanks to|as a result of|"
    r"throughout|among|against|"
    r"across|over) (?P<rest>(?:(?!\b(?:which|that|who|and|but|or)\b)[^,;:()\".]){4,70})\.$"
)
_FINITE = re.compile(r"\b(?:is|are|was|were|has|have|had|can|could|will|would|may|might|must|be|been)\b")
_MONTH = re.compile("|".join(MONTHS))
_OWNER = re.compile(
    r"\b(?:he|she|they|it|his|her|its|their|him|them|this|these|such|former|latter|other)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Tail:
    """An adjunct at the end of a sentence.

    words: text with the leading space (and comma), without the full stop. kind: its first words, and the form of its
    numbers. start: offset in the sentence.
    """

    words: str
    kind: str
    start: int


def tail_of(sentence: str) -> Tail | None:
    """Return the last and shortest adjunct of the sentence; None if it has none."""
    match = None
    for start in (m.start() for m in re.finditer(r",? (?=[a-z])", sentence)):
        found = _TAIL.match(sentence, start)
        if found:
            match = found
    if (
        match is None
        or len(sentence[: match.start()].split()) < 5
        or len(match.group().split()) < (2 if match["rest"].isdigit() else 3)
    ):
        return None
    words, lead = match.group()[:-1], match["lead"]
    if _FINITE.search(match["rest"]) and lead not in ("where", "while", "because"):
        return None
    return Tail(words, _kind(lead, words), match.start())


def _kind(lead: str, words: str) -> str:
    if re.fullmatch(r" \w+ \d{4}", words):
        return f"{lead} year"
    if not re.search(r"\d", words):
        return lead + ("," if words.startswith(",") else "")
    return re.sub(r"\d+", "#", _MONTH.sub("month", words)) if len(words.split()) < 5 else f"{lead} #"


def can_move(tail: Tail) -> bool:
    """Return whether the adjunct makes sense after another sentence: it has no reference to preceding text."""
    return not _OWNER.search(tail.words)
