"""Exchange of a claim's numbers, names and words in its evidence, for each other or for new ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from data.pairs import PairExample
from evaluation.synthetic_claims.altered.alteration import ValueSwap, standalone_pattern
from evaluation.synthetic_claims.entities import NOT_NAMES
from evaluation.synthetic_claims.numbers import change_number
from evaluation.synthetic_claims.word_swaps import swap_word

_NUMBER = re.compile(r"(?<![\w.,:/$£€-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w%/:-]|[.,]\d)")
_NAME = re.compile(r"(?<=[a-z,;’'\"] )[A-Z][a-z]{2,}(?![\w-])")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_TRIES = 6
_MAX_OCCURRENCES = 6
"""Maximum number of occurrences of a value in the evidence.

The main topic occurs in every sentence and is not exchanged.
"""
_DAYS = re.compile(r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day")


def exchange_values(answer: Sequence[PairExample], chance: Random) -> ValueSwap | None:
    """Exchange two numbers, or two names, of the evidence. A supported claim mentions one of them.

    The two must not be stated of the same thing, so they must never share a sentence of the evidence or a claim. An
    unsupported claim must not mention either, because it may be unsupported because of it. The resulting wrong claims
    consist of words from the evidence. Returns None if no two values qualify.
    """
    evidence = answer[0].evidence
    claims = [example.claim for example in answer]
    unsupported = [example.claim for example in answer if not example.supported]
    sentences = _SENTENCE.split(evidence)
    patterns = [_NUMBER, _NAME]
    chance.shuffle(patterns)
    for pattern in patterns:
        there = sorted({match.group() for match in pattern.finditer(evidence)} - NOT_NAMES)
        there = [value for value in there if _may_change(value, answer) and not _any_holds(unsupported, value)]
        mentioned = [value for value in there if _is_mentioned(value, answer)]
        chance.shuffle(mentioned)
        for one in mentioned[:_TRIES]:
            others = [value for value in there if value != one and _similar(value, one)]
            chance.shuffle(others)
            for other in others[:_TRIES]:
                if not any(_holds(text, one) and _holds(text, other) for text in (*sentences, *claims)):
                    return ValueSwap({one: other, other: one})
    return None


def replace_value(answer: Sequence[PairExample], names: Sequence[str], chance: Random) -> ValueSwap | None:
    """Replace a number, date, unit, name or quality that a supported claim mentions by a new one; None if nothing fits.

    names: names from other texts.
    """
    everything = " ".join([answer[0].evidence, answer[0].question, *(example.claim for example in answer)])
    supported = [example for example in answer if example.supported]
    for _ in range(_TRIES if supported else 0):
        claim = chance.choice(supported).claim
        way = chance.random()
        if way < 0.4:
            found = change_number(claim, chance, everything)
        elif way < 0.55:
            found = swap_word(claim, chance, chance.choice(("word", "relation")), {})
        else:
            found = None
            if inside := sorted({match.group() for match in _NAME.finditer(claim)} - NOT_NAMES):
                old, new = chance.choice(inside), chance.choice(names) if names else ""
                if _DAYS.fullmatch(old) is None and new and not _holds(everything, new):
                    exchange = ValueSwap({old: new})
                    if _may_change(old, answer) and _holds(answer[0].evidence, old):
                        return exchange
        if found is None:
            continue
        start, end = found.wrong[0]
        old, new = claim[start : len(claim) - (len(found.text) - end)], found.text[start:end]
        if old and new and old == old.strip() and _may_change(old, answer) and _holds(answer[0].evidence, old):
            if _holds(everything, new):
                continue
            return ValueSwap({old: new})
    return None


def names_in(text: str) -> list[str]:
    """Return the names within sentences of a text, in alphabetical order."""
    return sorted({match.group() for match in _NAME.finditer(text)} - NOT_NAMES)


def _may_change(value: str, answer: Sequence[PairExample]) -> bool:
    return (
        not _holds(answer[0].question, value)
        and 0 < len(re.findall(standalone_pattern(value), answer[0].evidence)) <= _MAX_OCCURRENCES
    )


def _is_mentioned(value: str, answer: Sequence[PairExample]) -> bool:
    return any(example.supported and _holds(example.claim, value) for example in answer)


def _any_holds(texts: Sequence[str], value: str) -> bool:
    return any(_holds(text, value) for text in texts)


def _holds(text: str, value: str) -> bool:
    return re.search(standalone_pattern(value), text) is not None


def _similar(one: str, two: str) -> bool:
    """Return whether both are names, or numbers of similar form."""
    if not one[0].isdigit():
        return not two[0].isdigit() and (_DAYS.fullmatch(one) is None) == (_DAYS.fullmatch(two) is None)
    return two[0].isdigit() and len(one) == len(two) and [c.isdigit() for c in one] == [c.isdigit() for c in two]
