"""Detect coordination: whether a span of an answer is an item of a list ("Paris, London and Rome", "1999 and 2001")."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.language.normalise import STOP_WORDS, Token
from evaluation.language.values import Value, comparable, same_value
from model.english import word_set

_JOINTS = frozenset({",", "and", "&", "or", "/", ";"})
_CLAUSE_ENDS = frozenset({".", ";", "!", "?", ":", "(", ")"})
_PARTICLES = word_set("of de la le von van der the and & in at on for")


def value_is_enumerated(tokens: Sequence[Token], values: Sequence[Value], value: Value) -> bool:
    """Return whether another, different value of the same form is coordinated with this one."""
    for other in values:
        if other is value or not comparable(value, other) or same_value(value, other) or same_value(other, value):
            continue
        first, second = (value, other) if value.start < other.start else (other, value)
        between = [t.lower for t in tokens[first.end : second.start]]
        if between and all(word in _JOINTS for word in between) and _same_shape(value, other, between):
            return True
    return False


def _same_shape(a: Value, b: Value, between: Sequence[str]) -> bool:
    if a.number is None or b.number is None:
        return (a.number is None) == (b.number is None)
    if between == [","]:  # a comma coordinates only values of the same form, unlike in "In 1999, 14 people"
        return a.number.year == b.number.year and bool(a.nouns or a.units) == bool(b.nouns or b.units)
    return True


def phrase_is_enumerated(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Return whether tokens[start:end] has neighbours of its kind: "Paris and London", "London, Paris and Rome".

    A comma alone does not coordinate ("Paris, France"). A capitalised phrase is coordinated only with capitalised ones,
    a common noun only with one that ends its clause within two words ("steel and copper").
    """
    if _capital(tokens[start]):  # use the neighbours of the complete name, for "Collins" in "Michael Collins"
        while start > 0 and _capital(tokens[start - 1]) and tokens[start - 1].lower not in STOP_WORDS:
            start -= 1
        while end < len(tokens) and _capital(tokens[end]):
            end += 1
    return _follows(tokens, start, end) or _precedes(tokens, start)


def _capital(token: Token) -> bool:
    return token.kind == "word" and token.text[0].isupper()


def _follows(tokens: Sequence[Token], start: int, end: int) -> bool:
    index, commas = end, 0
    while index < len(tokens) and tokens[index].text == ",":
        stop = index + 1
        while stop < len(tokens) and tokens[stop].kind != "mark" and tokens[stop].lower not in ("and", "&"):
            stop += 1
        if tokens[index + 1 : index + 2] and tokens[index + 1].lower in ("and", "&"):
            index += 1
            break
        if stop >= len(tokens) or not 0 < stop - index - 1 <= 4:
            return _bare_list(tokens)
        if tokens[start].kind == "word" and _capital(tokens[start]) and not _capital(tokens[index + 1]):
            return False
        index, commas = stop, commas + 1
    if index >= len(tokens) or tokens[index].lower not in ("and", "&") or index + 1 >= len(tokens):
        return commas >= 2 and _bare_list(tokens)
    return _is_item(tokens, start, index + 1)


def _bare_list(tokens: Sequence[Token]) -> bool:
    """Return whether the entire text is three or more short items separated by commas."""
    items, size = 0, 0
    for token in tokens:
        if token.text == ",":
            items, size = items + 1, 0
        elif token.kind != "mark":
            size += 1
            if size > 4:
                return False
    return items + 1 >= 3


def _is_item(tokens: Sequence[Token], start: int, first: int) -> bool:
    """Return whether the tokens from ``first`` are an item next to the phrase at ``start``, not a new clause."""
    stop = first
    while stop < len(tokens) and tokens[stop].text not in _CLAUSE_ENDS and tokens[stop].text != ",":
        stop += 1
    rest = tokens[first:stop]
    if not rest:
        return False
    if not _capital(tokens[start]) or not _capital(rest[0]):
        short = [t for t in rest if t.kind == "word"]
        plain = not _capital(tokens[start]) and 0 < len(short) <= 2 and len(short) == len(rest)
        return plain and not short[0].lower.endswith("ed") and short[0].lower not in STOP_WORDS
    run = 0
    while run < len(rest) and (_capital(rest[run]) or rest[run].lower in _PARTICLES or rest[run].kind == "mark"):
        run += 1
    opens_clause = start == 0 or all(t.lower in ("the", "a", "an", "both") for t in _clause_before(tokens, start))
    return run == len(rest) or opens_clause


def _clause_before(tokens: Sequence[Token], start: int) -> Sequence[Token]:
    low = start
    while low > 0 and tokens[low - 1].text not in _CLAUSE_ENDS:
        low -= 1
    return tokens[low:start]


def _precedes(tokens: Sequence[Token], start: int) -> bool:
    if start < 2 or tokens[start - 1].lower not in ("and", "&"):
        return False
    before = tokens[start - 2]
    if before.text == ",":
        return (
            start >= 3
            and _capital(tokens[start])
            and _capital(tokens[start - 3])
            and tokens[start - 3].lower not in STOP_WORDS
        )
    if _capital(tokens[start]):
        return _capital(before)
    clause = [t for t in _clause_before(tokens, start) if t.kind != "mark"]
    return len(clause) <= 4 and clause[0].lower not in STOP_WORDS
