"""Define the result of comparing an answer with one reference, and the conditions that invalidate a mention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.language.normalise import STOP_WORDS, singular
from evaluation.language.polarity import has_cue, is_cue, negated, offers_alternatives
from evaluation.verifiers.reading import Reading, Word

NOT_SUPPORTED_CEILING = 0.75
"""Maximum V of an unsupported claim, so that V >= threshold is equivalent to "supported"."""
MENTIONS = 16
"""Maximum number of mentions of a reference that are examined."""
HALF = 0.5
"""V of an answer that mentions the reference without committing to it, or gives a part of it."""


@dataclass(frozen=True, slots=True)
class Match:
    """Result of comparing an answer with one reference. support: V in [0, 1]. reason: explanation for display."""

    label: Literal["supported", "contradicted", "unverifiable"]
    support: float
    reason: str


def content_of(words: Sequence[Word]) -> tuple[str, ...]:
    """Return the content words, with nouns in the singular."""
    # Articles are already removed, so a remaining "a" is a name (vitamin A).
    return tuple(singular(w.text) for w in words if w.text not in STOP_WORDS or w.text == "a")


def blocked_by(a: Reading, r: Reading, q: Reading, start: int, end: int) -> Match | None:
    """Return why the mention a.tokens[start:end] does not count: it is negated or one of several alternatives.

    a, r, q: readings of answer, reference and question.

    Returns None if the mention counts.
    """
    adjacent = start > 0 and is_cue(a.tokens, start - 1)
    if not has_cue(r.tokens) and (adjacent or not has_cue(q.tokens)) and negated(a.tokens, start, end):
        return Match("contradicted", 0.0, "the answer denies the reference")
    if not any(t.lower == "or" for t in r.tokens) and offers_alternatives(a.tokens, start, end):
        return Match("unverifiable", HALF, "the answer offers alternatives")
    return None
