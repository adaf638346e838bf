"""Prepare texts for comparison: tokens, values, and words with each value in canonical form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.language.normalise import Token, fold, is_article, is_sign, tokenise
from evaluation.language.units import units_named
from evaluation.language.value_extraction import find_values
from evaluation.language.values import Value


@dataclass(frozen=True, slots=True)
class Word:
    """A canonical word. start, end: range of its tokens, end excluded."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A text prepared for comparison.

    words: words without marks and articles, with canonical values ("fourteen days" equals "14 days").
    plain: the same words with values as written.
    marked: canonical words together with the marks that separate items.
    """

    tokens: tuple[Token, ...]
    values: tuple[Value, ...]
    words: tuple[Word, ...]
    plain: tuple[Word, ...]
    marked: tuple[str, ...]

    @property
    def word_texts(self) -> tuple[str, ...]:
        """The canonical words as strings."""
        return tuple(w.text for w in self.words)


def read_text(text: str) -> Reading:
    """Prepare a text for comparison. Line breaks separate items, as commas do."""
    tokens = tokenise(fold(re.sub(r"\s*\n\s*", " ; ", text.strip())))
    values = find_values(tokens)
    by_start = {v.start: v for v in values}
    words: list[Word] = []
    marked: list[str] = []
    index = 0
    while index < len(tokens):
        value = by_start.get(index)
        if value is not None:
            new = _value_words(tokens, value)
            index = value.end
        elif tokens[index].kind == "mark":
            if tokens[index].text in ",;&|•":
                marked.append(tokens[index].text)
            new = (Word(tokens[index].text, index, index + 1),) if tokens[index].text in "£$€¥₹₩%°" else ()
            index += 1
        else:
            new = () if is_article(tokens, index) else (_plain_word(tokens, index),)
            index += 1
        words.extend(new)
        marked.extend(w.text for w in new)
    plain = tuple(
        _plain_word(tokens, i)
        for i, token in enumerate(tokens)
        if (token.kind != "mark" and not is_article(tokens, i)) or is_sign(tokens, i)
    )
    return Reading(tokens, values, tuple(words), plain, tuple(marked))


def _plain_word(tokens: Sequence[Token], index: int) -> Word:
    return Word(tokens[index].lower.replace("'", ""), index, index + 1)


def _value_words(tokens: Sequence[Token], value: Value) -> tuple[Word, ...]:
    """Return the value's canonical word, followed by its unit and its other words."""
    parts = value.range or (value,)
    words: list[Word] = []
    for part in parts:
        if part.number is None:
            words.append(Word(part.canonical, part.start, part.end))
            continue
        words.append(Word(part.canonical, part.number.start, part.number.end))
        if part.start < part.number.start or tokens[part.number.end - 1].suffix:
            words.extend(Word(u.name, part.start, part.end) for u in part.units[:1])
        for index in range(part.number.end, part.end):
            token = tokens[index]
            unit = units_named(token.lower)
            if unit:
                words.append(Word(unit[0].name, index, index + 1))
            elif token.kind != "mark":
                words.append(_plain_word(tokens, index))
    return tuple(words)
