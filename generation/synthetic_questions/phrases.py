"""Find answer spans that are not names: noun phrases, adjectives, lists and short clauses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from generation.english import words
from generation.english.tokens import Token
from generation.synthetic_questions.spans import AnswerSpan
from model.english import word_set

_CLAUSE_ENDS: Final = word_set("that which who whom whose where when while although because if since as and but or")
_REFERRING_DETERMINERS: Final = word_set("this these that those his her its their each every any no our some all both")


def noun_spans(tokens: Sequence[Token]) -> Iterator[AnswerSpan]:
    """Yield noun phrases without their determiner, and classifying adjectives."""
    index = 0
    while index < len(tokens):
        if tokens[index].tag not in "DJN":
            index += 1
            continue
        left = index
        start = index + 1 if tokens[index].tag == "D" else index
        end = start
        while end < len(tokens) and (
            tokens[end].tag in "JN" or (tokens[end].tag == "G" and end + 1 < len(tokens) and tokens[end + 1].tag == "N")
        ):
            end += 1
        index = max(end, index + 1)
        if (
            end == start
            or tokens[end - 1].tag != "N"
            or end - start > 4
            or (end < len(tokens) and tokens[end].tag in "X'#")
        ):
            continue
        determiner = tokens[left].low if left < start else ""
        if determiner in _REFERRING_DETERMINERS:
            continue
        if left and (
            tokens[left - 1].tag in "X#'G" or tokens[left - 1].low in ("of", "more", "most", "as", "well", "versus")
        ):
            continue
        if tokens[end - 1].low in words.VAGUE:
            continue
        end = _with_complement(tokens, end)
        if end < len(tokens) and tokens[end].low in ("of", "and", "or", "that", "versus", "to"):
            continue
        if len(tokens[end - 1].low) < 3:
            continue
        yield AnswerSpan(start, end, left, end, "phrase")
        if tokens[start].tag == "J" and 2 <= end - start <= 3 and _is_informative(tokens, start):
            ask = "nationality" if tokens[start].low in words.NATIONALITIES else ""
            yield AnswerSpan(start, start + 1, left, end, "adjective", ask)


def _is_informative(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the adjective classifies, and the noun follows directly, without a quotation mark between."""
    low = tokens[at].low
    plain = low in words.VAGUE or low in words.PLAIN_ADJECTIVES or low in words.ORDINALS
    return not plain and len(low) > 3 and tokens[at + 1].start == tokens[at].end + 1


def _with_complement(tokens: Sequence[Token], end: int) -> int:
    """Return the end of a phrase including a short complement ("capture of the city"); ``end`` if there is none."""
    if end + 1 >= len(tokens) or tokens[end].low != "of":
        return end
    at = end + 1
    if tokens[at].tag == "D":
        at += 1
    start = at
    while at < len(tokens) and tokens[at].tag in "JNX" and at - start < 3:
        at += 1
    return (
        at if at > start and tokens[at - 1].tag in "NX" and not (at < len(tokens) and tokens[at].tag in "JNX'") else end
    )


def long_spans(tokens: Sequence[Token]) -> Iterator[AnswerSpan]:
    """Yield long noun phrases after a verb or preposition, up to a comma or clause: "the capital of the province"."""
    for index in range(1, len(tokens) - 3):
        if (
            tokens[index].tag not in "DJ"
            or tokens[index - 1].tag not in "VBAP"
            or tokens[index - 1].low in ("of", "than", "as")
        ):
            continue
        end, nouns = index, 0
        while end < len(tokens) and (
            tokens[end].tag in "DJNX#'"
            or (tokens[end].tag == "P" and tokens[end].low in ("of", "in", "for", "on", "between"))
        ):
            nouns += tokens[end].tag in "NX"
            end += 1
        start = index + 1 if tokens[index].low in ("the", "a", "an") else index
        closed = end == len(tokens) or tokens[end].tag in ",;S"
        possessive = tokens[index].low in ("his", "her", "its", "their", "this", "these", "that", "those")
        fits = closed and nouns > 1 and 4 <= end - start <= 8 and tokens[end - 1].tag in "NX"
        if fits and not possessive and tokens[start].low not in words.VAGUE:
            yield AnswerSpan(start, end, index, end, "long")


def list_spans(tokens: Sequence[Token]) -> Iterator[AnswerSpan]:
    """Yield lists of two or more items, joined by commas and "and": "copper, tin and lead"."""
    index = 0
    while index < len(tokens):
        end = items = 0
        start = index + 1 if tokens[index].low in ("the", "a", "an") else index
        at = start
        while at < len(tokens) and tokens[at].tag in "JNX":
            while at < len(tokens) and tokens[at].tag in "JNX":
                at += 1
            if tokens[at - 1].tag not in "NX" or at - start > 14:
                break
            items, end = items + 1, at
            while at < len(tokens) and tokens[at].tag in ",CD" and at - end < 3:
                at += 1
            if at == end:
                break
        joined_by = [token.low for token in tokens[start:end] if token.tag == "C"]
        before = tokens[index - 1] if index else None
        if (
            items > 1
            and joined_by == ["and"]
            and before is not None
            and before.tag in "VBAP"
            and before.low != "between"
        ):
            if end - start <= 10 and not (
                end < len(tokens) and (tokens[end].tag in "X'#VA" or tokens[end].low in ("of", "and"))
            ):
                yield AnswerSpan(start, end, index, end, "listed")
            index = end
        index += 1


def clause_spans(tokens: Sequence[Token]) -> Iterator[AnswerSpan]:
    """Yield reasons, purposes and manners of up to nine words, after "because", "due to", "to" and "by"."""
    for index, token in enumerate(tokens[:-3]):
        after = tokens[index + 1]
        if token.low == "because" and index > 3:
            start = index + 2 if after.low == "of" else index + 1
            kind = "reason"
        elif token.low == "due" and after.low == "to" and index > 3 and tokens[index - 1].tag != "A":
            start, kind = index + 2, "reason"
        elif (
            token.low == "to"
            and token.tag == "P"
            and tokens[index - 1].low != "due"
            and after.tag == "B"
            and index > 2
            and tokens[index - 1].tag in "NX"
        ):
            start, kind = index, "purpose"
        elif token.low == "by" and after.tag == "G" and index > 2:
            start, kind = index + 1, "manner"
        else:
            continue
        end = start + 1
        while (
            end < len(tokens)
            and end - start < 10
            and tokens[end].tag not in ",;"
            and tokens[end].low not in _CLAUSE_ENDS
        ):
            end += 1
        if 2 <= end - start <= 9 and (end == len(tokens) or tokens[end].tag in ",;" or tokens[end].low in _CLAUSE_ENDS):
            yield AnswerSpan(start, end, index, end, kind)
