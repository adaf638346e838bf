"""Does a text say anything? White space does not, nor do characters that nobody sees."""

from __future__ import annotations

import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})  # controls, formats (zero-width ones, marks of direction), spaces


def is_blank(text: str) -> bool:
    """Whether no character of ``text`` can be seen: empty, white space, zero-width characters."""
    return all(character.isspace() or unicodedata.category(character) in _UNSEEN for character in text)
