"""Split lists into items, and compare the items of an answer with those of a reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.language.normalise import STOP_WORDS
from model.english import word_set

_SEPARATORS = frozenset({",", ";", "and", "&", "•", "\n", "|"})
_OPENERS = word_set(
    "which who whom whose as when where because while according with for in on by from after before during since so if "
    "although though but however not respectively"
)


@dataclass(frozen=True, slots=True)
class ItemCoverage:
    """Result of comparing an answer's items with a reference's.

    matched: number of reference items that are found.
    missing: reference items that are not found.
    extra: answer items that match no reference item.
    """

    matched: int
    missing: tuple[str, ...]
    extra: tuple[str, ...]

    @property
    def f1(self) -> float:
        """Harmonic mean of item precision and recall, in [0, 1]."""
        total = 2 * self.matched + len(self.missing) + len(self.extra)
        return 2 * self.matched / total if total else 0.0


def contains(tokens: Sequence[str], part: Sequence[str]) -> int | None:
    """Return the first index at which ``part`` occurs in ``tokens`` as complete tokens, or None."""
    size = len(part)
    if size == 0:
        return None
    for index in range(len(tokens) - size + 1):
        if tuple(tokens[index : index + size]) == tuple(part):
            return index
    return None


def split_items(words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Split words into items at commas, semicolons and "and".

    Punctuation, articles at the beginning of items, and empty items are dropped.
    """
    items: list[tuple[str, ...]] = []
    current: list[str] = []
    for word in (*words, ","):
        if word not in _SEPARATORS:
            current.append(word)
            continue
        kept = _trimmed(current)
        if kept:
            items.append(kept)
        current = []
    return tuple(items)


def _trimmed(words: Sequence[str]) -> tuple[str, ...]:
    words = [w for w in words if w[0] in "=£$€¥₹₩%°" or w[0].isalnum()]
    while words and words[0] in ("a", "an", "the", "both", "also"):
        words = words[1:]
    return tuple(words)


def cover(
    reference: Sequence[tuple[str, ...]], answer: Sequence[tuple[str, ...]], question: frozenset[str]
) -> ItemCoverage:
    """Match the items. A reference item is found if it occurs in an answer item as complete tokens.

    An answer item is extra unless it contains a reference item, repeats the question's words, or is a closing clause
    ("..., which are replaced yearly").
    """
    found = {i for i, item in enumerate(reference) if any(contains(a, item) is not None for a in answer)}
    used = [any(contains(a, item) is not None for item in reference) for a in answer]
    last = max((i for i, u in enumerate(used) if u), default=-1)
    extra: list[str] = []
    for index, item in enumerate(answer):
        if used[index] or all(w in question or w in STOP_WORDS for w in item):
            continue
        if index > last and item[0] in _OPENERS:
            break
        extra.append(" ".join(item))
    missing = tuple(" ".join(r) for i, r in enumerate(reference) if i not in found)
    return ItemCoverage(len(found), missing, tuple(extra))
