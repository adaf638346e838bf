"""Check whether the text of a PDF page consists of letters, and of words separated by spaces."""

from __future__ import annotations

import re
import unicodedata
from itertools import islice

_GLYPH_NAME = re.compile(r"/[A-Za-z]{0,8}\d{1,6}(?![\w.])|\(cid:\d+\)|/[a-z]{1,3}[0-9A-F]{2,6}(?![\w.])")
_SHOWN = 3
_MAX_NAME_SHARE = 0.3
_MAX_WRONG_SHARE = 0.1
_WRONG_CATEGORIES = frozenset(("Cc", "Co", "Cn", "Cs"))
_RUN = re.compile(r"[^\W\d_]+", re.ASCII)
_MIN_LETTERS = 120
_MAX_MEAN_RUN = 14.0


def unusable_text_reason(text: str) -> str:
    """Return why the extracted text is unusable, "" if it is usable.

    It is unusable if the fonts give mostly glyph names or codes that are not letters.
    """
    characters = [character for character in text if not character.isspace()]
    if not characters:
        return ""
    name_characters = sum(len(match.group()) for match in _GLYPH_NAME.finditer(text))
    if name_characters > _MAX_NAME_SHARE * len(characters):
        return f"its fonts map to glyph names ({_glyph_names(text)}), not letters"
    wrong_count = sum(
        character == "\ufffd" or unicodedata.category(character) in _WRONG_CATEGORIES for character in characters
    )
    if wrong_count > _MAX_WRONG_SHARE * len(characters):
        return "its fonts map to codes that are not letters"
    return ""


def lacks_spaces(text: str) -> bool:
    """Return whether spaces are missing, because runs of Latin letters are on average too long for any language."""
    runs = _RUN.findall(re.sub(r"-\n", "", text))
    letters = sum(map(len, runs))
    return letters >= _MIN_LETTERS and letters / len(runs) > _MAX_MEAN_RUN


def page_list(pages: list[int]) -> str:
    """Return page numbers for a message, such as ``3, 5-7``."""
    groups: list[list[int]] = []
    for page in pages:
        if groups and page == groups[-1][-1] + 1:
            groups[-1].append(page)
        else:
            groups.append([page])
    return ", ".join(str(group[0]) if len(group) == 1 else f"{group[0]}-{group[-1]}" for group in groups)


def _glyph_names(text: str) -> str:
    return " ".join(match.group() for match in islice(_GLYPH_NAME.finditer(text), _SHOWN)) + " ..."
