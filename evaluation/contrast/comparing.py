"""Extraction of comparisons ("A is heavier than B but cheaper"), and a check of whether two sentences agree on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evaluation.contrast.statement import Statement
from evaluation.language.opposites import same_scale
from model.english import word_set

_BOUNDARIES = word_set("but and while whereas although though yet , ; . : ( )")
_BE = word_set("is are was were be been being gets get becomes became seems looks runs costs weighs")
_PRICED = {
    ("more", "expensive"): "dearer",
    ("more", "costly"): "dearer",
    ("less", "expensive"): "cheaper",
    ("less", "costly"): "cheaper",
    ("more", "affordable"): "cheaper",
    ("less", "affordable"): "dearer",
}


@dataclass(frozen=True, slots=True)
class Compared:
    """One comparison: ``subject`` has more (``sign`` 1) or less (-1) of ``scale`` than ``thing``.

    subject, thing: word stems of the two sides. scale: a comparative ("heavier"), or the adjective after "more" or
    "less".
    """

    subject: frozenset[str]
    thing: frozenset[str]
    scale: str
    sign: int


def comparisons(text: Statement) -> tuple[Compared, ...]:
    """Return the comparisons with "than" in a sentence; empty if it contains a negation."""
    if text.denials:
        return ()
    words = [token.lower for token in text.tokens]
    stems = {item.index: item.stem for item in text.items}
    found: list[Compared] = []
    start = 0
    for than in (index for index, word in enumerate(words) if word == "than"):
        end = next((p for p in range(than + 2, len(words)) if words[p] in _BOUNDARIES), len(words))
        following = words.index("than", than + 1) if "than" in words[than + 1 :] else len(words)
        verb = next((p for p in range(start, than) if words[p] in _BE), start)
        scales = list(_scales(words, verb, than))  # "the lower lock is deeper": the subject is before the verb
        if not scales:
            continue
        verb = verb if verb > start else scales[0][0]
        subject = frozenset(stems[p] for p in range(start, verb) if p in stems)
        thing = frozenset(stems[p] for p in range(than + 1, end) if p in stems)
        if following == len(words):  # "heavier than B but cheaper"
            scales += _scales(words, end, len(words))
        found += [Compared(subject - thing, thing - subject, scale, sign) for _, scale, sign in scales]
        start = end
    return tuple(one for one in found if one.subject and one.thing)


def _scales(words: list[str], start: int, end: int) -> Iterator[tuple[int, str, int]]:
    """Yield token index, word and sign of each comparative in words[start:end]."""
    skip = -1
    for index in range(start, end):
        word = words[index]
        if index == skip:
            continue
        if word in ("more", "less") and index + 1 < len(words):
            pair = (word, words[index + 1])
            if pair[1] in _BOUNDARIES or pair[1] == "than":
                continue
            skip = index + 1
            yield (index, _PRICED[pair], 1) if pair in _PRICED else (index, pair[1], 1 if word == "more" else -1)
        elif same_scale(word, word):
            yield index, word, 1


def agreement(claim: Statement, evidence: Iterable[Statement]) -> int | None:
    """Compare the comparisons of a claim with those of its evidence.

    Returns 1 if the evidence makes every comparison of the claim, -1 if it reverses one of them, and None if the
    evidence does not compare the same two things.
    """
    mine = comparisons(claim)
    if not mine:
        return None
    theirs = [there for other in evidence for there in comparisons(other)]
    results = [_agreements(own, theirs) for own in mine]
    if any(-1 in found and 1 not in found for found in results):
        return -1
    return 1 if all(1 in found for found in results) else None


def is_only_comparison(text: Statement) -> bool:
    """Return whether a sentence contains nothing but comparisons of two things."""
    found = comparisons(text)
    if not found or text.values:
        return False
    parties = found[0].subject | found[0].thing
    scales = {one.scale for one in found} | {word for pair in _PRICED for word in pair}
    stems = [item.stem for item in text.items]
    return all(
        stem in parties or stems.count(stem) > 1 or item.word in scales
        for stem, item in zip(stems, text.items, strict=True)
    )


def _agreements(own: Compared, others: Iterable[Compared]) -> set[int]:
    found = set()
    for other in others:
        same = 1 if own.scale == other.scale else same_scale(own.scale, other.scale)
        order = _order(own, other)
        if same and order:
            found.add(same * own.sign * other.sign * order)
    return found


def _order(own: Compared, other: Compared) -> int:
    """Return 1 if both compare the same things in the same order, -1 in reverse order, 0 if the things differ."""
    straight = own.subject <= other.subject and own.thing <= other.thing
    turned = own.subject <= other.thing and own.thing <= other.subject
    return 0 if straight == turned else 1 if straight else -1
