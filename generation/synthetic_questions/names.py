"""Find answer spans that are names, and guess their type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from generation.english import words
from generation.english.tokens import Token
from generation.synthetic_questions.spans import AnswerSpan
from model.english import MONTHS, WEEKDAYS, word_set

_SAYING: Final = word_set(
    "said wrote argued claimed believed suggested stated proposed married died born published moved studied attended "
    "joined returned directed starred graduated worked taught composed painted invented succeeded served himself "
    "herself noted described resigned retired refused explained wanted thought met"
)
_INSIDE: Final = word_set("of de von van da di del la le and the for bin al")


def name_spans(tokens: Sequence[Token]) -> Iterator[AnswerSpan]:
    """Yield runs of capitalised words that are complete names and not items of a list."""
    index = 0
    while index < len(tokens):
        if tokens[index].tag != "X" or tokens[index].low in MONTHS or tokens[index].low in WEEKDAYS:
            index += 1
            continue
        end = _name_end(tokens, index)
        before_low = tokens[index - 1].low if index else ""
        listed = (
            before_low == ","
            and index > 1
            and tokens[index - 2].tag in "XN"
            and end < len(tokens)
            and tokens[end].tag in ",C"
        )
        listed = listed or _begins_list(tokens, end)
        is_name = (
            listed or (index and tokens[index - 1].tag in "#'") or (before_low in ("and", "or") and end - index == 1)
        )
        is_name = (
            is_name
            or (end < len(tokens) and tokens[end].tag in "NXG")
            or (end < len(tokens) and tokens[end].tag == "'")
        )
        before = index
        if before > 0 and tokens[before - 1].low in words.PERSON_NOUNS:
            before -= 1
        while before > 0 and tokens[before - 1].tag in "J":
            before -= 1
        left = before - 1 if before and tokens[before - 1].tag == "D" else before
        if not is_name and len(tokens[end - 1].text) > 1 and (left == before or tokens[left].low in ("the", "a", "an")):
            kind, ask = _name_kind(tokens, index, end, left)
            yield AnswerSpan(index, end, left, end, kind, ask)
        index = end


def _begins_list(tokens: Sequence[Token], end: int) -> bool:
    """Return whether the name starts a list: "Bank A, Bank B and Bank C", but not "Springfield, Ohio"."""
    if end + 1 >= len(tokens) or tokens[end].tag != "," or tokens[end + 1].tag != "X":
        return False
    at = end + 1
    while at < len(tokens) and tokens[at].tag == "X":
        at += 1
    return at + 1 < len(tokens) and tokens[at].tag in ",C" and tokens[at + 1].tag in "XC"


def _name_end(tokens: Sequence[Token], start: int) -> int:
    end = start + 1
    while end < len(tokens):
        if (tokens[end].tag == "X" and tokens[end].low not in MONTHS) or (
            tokens[end].tag == "#" and tokens[end].low.isdigit() and len(tokens[end].low) < 3
        ):
            end += 1
        elif (
            tokens[end].text == "."
            and (
                len(tokens[end - 1].text) <= 2
                or tokens[end - 1].low in words.TITLES
                or tokens[end - 1].low in ("jr", "fr")
            )
            and end + 1 < len(tokens)
            and tokens[end + 1].tag == "X"
        ) or (tokens[end].low in _INSIDE and _continues(tokens, end)):
            end += 2
        else:
            break
    return end


def _continues(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the small word at ``at`` is part of a name: "Bank of England", "Ludwig van Beethoven"."""
    if at + 1 >= len(tokens) or tokens[at + 1].tag != "X":
        return False
    word, head = tokens[at].low, tokens[at - 1].low
    if word in ("of", "for"):
        return word == "of" or head in words.GROUP_HEADS
    return word not in ("and", "the", "for")


def _name_kind(tokens: Sequence[Token], start: int, end: int, left: int) -> tuple[str, str]:
    first, last = tokens[start].low, tokens[end - 1].low
    before = tokens[left - 1] if left else None
    after = tokens[end].low if end < len(tokens) else ""
    heads = [tokens[i].low for i in range(start, end) if tokens[i].low in words.GROUP_HEADS]
    if end - start == 1 and first in words.LANGUAGES and before and before.low in ("in", "into", "from", "speak"):
        return "name", "language"
    if (
        heads
        and (first in heads or last in heads or "of" in [t.low for t in tokens[start:end]])
        and first not in words.TITLES
    ):
        middle = next((i for i in range(start + 1, end) if tokens[i].low == "of"), end)
        last = tokens[middle - 1].low
        if last not in words.GROUP_HEADS and first not in words.GROUP_HEADS:
            return "name", ""
        head = last if last in words.GROUP_HEADS else heads[0]
        return ("place" if head in words.PLACE_HEADS else "group"), words.GROUP_HEADS[head]
    if last in words.COUNTRIES and end - start <= 2:
        return "place", "country"
    the = left < start and tokens[left].low == "the"
    if first in words.TITLES or (first in words.GIVEN_NAMES and end - start > 1):
        return "person", ""
    near = tokens[start - 1].low if start else ""
    if not the and (near in words.PERSON_NOUNS or near in words.TITLES):
        return "person", near if near in words.PERSON_NOUNS and near not in words.TITLES else ""
    if not the and (
        after in _SAYING or after == "who" or (after == "," and end + 1 < len(tokens) and tokens[end + 1].low == "who")
    ):
        return "person", ""
    if not the and before and before.low == "by" and 2 <= end - start <= 3:
        return "person", ""
    marked = last in ("jr", "sr", "ii", "iii", "iv", "vi", "vii", "viii") or any(
        tokens[i].low in ("von", "van", "bin") or re.fullmatch(r"(?:[A-Z]\.)+", tokens[i].text)
        for i in range(start, end)
    )
    if not the and end - start > 1 and marked:
        return "person", ""
    if before and before.low in ("in", "at", "near", "from") and not the and end - start <= 2:
        return "place", ""
    return "name", ""
