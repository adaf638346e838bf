"""Script-specific rules for tokenising and sentence splitting: scripts without spaces, vowel signs, sentence marks."""

from __future__ import annotations

import re
import unicodedata

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Character class of scripts without spaces: Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar.

Hangul is included: it has spaces, but particles are attached to its words, so search engines use character bigrams.
"""

VOWEL_SIGNS = "".join(
    chr(code)
    for start, end in ((0x0900, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
    for code in range(start, end + 1)
    if unicodedata.category(chr(code)).startswith("M")
)
"""Character class of combining signs of Indic and South-East Asian scripts, which occur within words."""

SENTENCE_MARKS = "。｡！？‼⁇⁈⁉।॥۔؟።፧፨။។៕᠃᠉"
"""Marks that always end a sentence, from CJK, Devanagari, Arabic, Ethiopic, Myanmar, Khmer and Mongolian."""

_BIGRAM_CHARACTERS = re.compile(f"[{UNSPACED}{VOWEL_SIGNS}]")
_CLOSING = "」』）】〉》〕］”’\"')\\]"
_SENTENCE_END = re.compile(f"[{SENTENCE_MARKS}]+(?P<closed>[{_CLOSING}]*)\\s*")
# Characters with which a sentence continues after a closing quotation mark: 「はい。」と言った。
_CONTINUATIONS = "とっのはがをにで，、,;；"
_THAI_SPACE = re.compile("(?<=[\u0e01-\u0e2e\u0e30-\u0e45\u0e47-\u0e4e])[ \u00a0]+(?=[\u0e01-\u0e44])")
_MIN_THAI_CLAUSE = 15
_SPECIAL_SENTENCE_END = re.compile(f"[{SENTENCE_MARKS}]|{_THAI_SPACE.pattern}")


def needs_bigrams(text: str) -> bool:
    """Return whether the text contains a script without spaces or with vowel signs inside words."""
    return _BIGRAM_CHARACTERS.search(text) is not None


def has_special_sentence_ends(text: str) -> bool:
    """Return whether the text contains sentence ends that European languages do not have."""
    return _SPECIAL_SENTENCE_END.search(text) is not None


def special_sentence_starts(text: str) -> list[int]:
    """Return the ascending offsets at which a sentence starts after a sentence mark, or after a space in Thai.

    Thai has no sentence mark. A space ends a sentence or a clause, but also occurs around numerals and in lists. It
    counts as a boundary if both sides have at least ``_MIN_THAI_CLAUSE`` characters.
    """
    starts = {
        match.end()
        for match in _SENTENCE_END.finditer(text)
        if match.end() < len(text) and not (match["closed"] and text[match.end()] in _CONTINUATIONS)
    }
    spaces = [match.span() for match in _THAI_SPACE.finditer(text)]
    last = 0
    for number, (end, start) in enumerate(spaces):
        following = spaces[number + 1][0] if number + 1 < len(spaces) else len(text)
        if end - last >= _MIN_THAI_CLAUSE and following - start >= _MIN_THAI_CLAUSE:
            starts.add(start)
            last = start
    return sorted(starts)
