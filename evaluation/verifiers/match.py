"""What comparing an answer with one reference gives, and what makes a mention of it count for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.language.normalise import STOP_WORDS, singular
from evaluation.language.polarity import has_cue, is_cue, negated, offers_alternatives
from evaluation.verifiers.reading import Reading, Word

NOT_SUPPORTED_CEILING = 0.75
"""V of a claim that is not supported never exceeds this, so that V >= threshold and "supported" are one statement."""
MENTIONS = 16
"""So many mentions of a reference are looked at; an answer that repeats itself more often says nothing new."""
HALF = 0.5
"""V of an answer that mentions the reference without committing to it, or gives a part of it."""


@dataclass(frozen=True, slots=True)
class Match:
    """What comparing with one reference gave. support: V in [0, 1]. reason: in words, for a person."""

    label: Literal["supported", "contradicted", "unverifiable"]
    support: float
    reason: str


def content_of(words: Sequence[Word]) -> tuple[str, ...]:
    """The words that carry meaning, nouns without their plural ending."""
    # Articles are gone already: an "a" that is left is a name (vitamin A).
    return tuple(singular(w.text) for w in words if w.text not in STOP_WORDS or w.text == "a")


def blocked_by(a: Reading, r: Reading, q: Reading, start: int, end: int) -> Match | None:
    """Why a mention in a.tokens[start:end] commits to nothing or to the opposite; None when it counts."""
    adjacent = start > 0 and is_cue(a.tokens, start - 1)
    if not has_cue(r.tokens) and (adjacent or not has_cue(q.tokens)) and negated(a.tokens, start, end):
        return Match("contradicted", 0.0, "the answer denies the reference")
    if not any(t.lower == "or" for t in r.tokens) and offers_alternatives(a.tokens, start, end):
        return Match("unverifiable", HALF, "the answer offers alternatives")
    return None
