"""Detect texts without visible characters."""

from __future__ import annotations

import unicodedata

_INVISIBLE = frozenset(
    {"Cc", "Cf", "Zl", "Zp", "Zs"}
)  # control and format characters (zero-width, direction marks), spaces


def is_blank(text: str) -> bool:
    """Return whether no character of ``text`` is visible: empty, white space, zero-width characters."""
    return all(character.isspace() or unicodedata.category(character) in _INVISIBLE for character in text)
