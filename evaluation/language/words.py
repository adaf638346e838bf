"""Word lists written as one line of text, the way they are read and checked by people."""

from __future__ import annotations


def word_list(text: str) -> tuple[str, ...]:
    """The words between white space, in order."""
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    """The same as a set."""
    return frozenset(text.split())
