"""Detection of opposite words by lexicon, by comparative, or by a negating prefix."""

from __future__ import annotations

from evaluation.language.opposites import opposite_comparatives, opposite_of_statement

_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "non-")


def opposite(one: str, other: str) -> bool:
    """Return whether two words are opposites."""
    if opposite_of_statement(one, other) or opposite_comparatives(one, other):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and any(long == prefix + short for prefix in _PREFIXES)
