"""Extract the content words of English text, and compute the share of a claim's words that a passage lacks."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")
_KEPT = 64
_STOP_WORDS = frozenset(
    _WORD.findall(
        "a an the of in on at to for from by with as and or but is are was were be been being do does did has have had "
        "which what who whom whose when where why how many much it its this that these those he she they his her their "
        "there then than into over about after before between under during not no can could will would may might must "
        "shall should i you we me him them us my your our any some all each every name called one yes true false"
    )
)


def content_words(text: str) -> frozenset[str]:
    """Return the distinct content words of a text, each truncated to a prefix that most of its forms share."""
    lower = (word.lower() for word in _WORD.findall(text))
    return frozenset(_beginning(word) for word in lower if word not in _STOP_WORDS)


def word_count(text: str, most: int) -> int:
    """Return the number of words in a text, including stop words. Counting stops at ``most``."""
    return sum(1 for _ in zip(range(most), _WORD.finditer(text), strict=False))


def share_missing(claim: str, evidence: str) -> float:
    """Return the share of the claim's content words that are not in the evidence; 0 for a claim without any."""
    words = content_words(claim)
    return len(words - _cached_words(evidence)) / len(words) if words else 0.0


@lru_cache(maxsize=_KEPT)
def _cached_words(text: str) -> frozenset[str]:
    return content_words(text)


def _beginning(word: str) -> str:
    return word if len(word) <= 4 else word[: max(4, min(6, len(word) - 2))]
