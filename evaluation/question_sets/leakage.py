"""Detect questions that repeat their passage, so that word matching alone would find it."""

from __future__ import annotations

import re
from typing import Final

LONGEST_RUN: Final = 6
"""Minimum number of consecutive repeated words that counts as leakage."""
_WORD: Final = re.compile(r"\w+")


def longest_shared_run(question: str, passage: str) -> int:
    """Return the number of words of the longest sequence that occurs in both, ignoring case.

    The time is O(Q P) for Q and P words.
    """
    question_words, passage_words = _WORD.findall(question.lower()), _WORD.findall(passage.lower())
    best = 0
    row = [0] * (len(passage_words) + 1)
    for word in question_words:
        following = [0] * (len(passage_words) + 1)
        for index, other in enumerate(passage_words):
            if word == other:
                following[index + 1] = row[index] + 1
                best = max(best, following[index + 1])
        row = following
    return best


def leaks(question: str, passage: str, answer: str) -> bool:
    """Return whether the question contains its answer, or repeats LONGEST_RUN consecutive words of the passage."""
    match = re.search(rf"(?<!\w){re.escape(answer.lower())}(?!\w)", question.lower()) if answer else None
    return match is not None or longest_shared_run(question, passage) >= LONGEST_RUN
