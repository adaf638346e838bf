"""Rule-based detection of claims that repeat a part of an evidence sentence in its order, for English.

Dropping words keeps a sentence true only if the remaining words keep their roles (the contrary assumption is the
subsequence heuristic of McCoy et al. 2019). The subject must therefore be the sentence's. No word that is governed by a
dropped word may remain ("the father of the mayor"), and no condition, hedge or negation may be dropped.
"""

from __future__ import annotations

from functools import lru_cache

from evaluation.contrast.comparing import agreement, is_only_comparison
from evaluation.contrast.contrast import contrast
from evaluation.contrast.quantity_rules import differing_limit
from evaluation.contrast.statement import ContentWord, Statement, statement, statements
from evaluation.language.values import comparable
from model.english import word_set

_GUARDS = word_set(
    "if unless may might could would should perhaps possibly probably allegedly reportedly supposedly claims claimed "
    "said says believes believed thinks thought denies denied planned plans expects expected hopes hoped proposed "
    "suggests suggested almost nearly until not never no none nobody nothing without neither nor cannot except or "
    "unlikely false rumoured rumored intends tried attempted failed refused whether"
)
_QUANTIFIERS = word_set("all every each always only entire entirely most exclusively solely everyone everybody")
_PRONOUNS = word_set("it they he she this that these those there its their his her")
_OPENERS = word_set("yes no according to the a an in fact so thus therefore")
_MAX_CHARACTERS = 300


@lru_cache(maxsize=16_384)
def restated(claim: str, evidence: str) -> bool:
    """Return whether a sentence or clause of the evidence contains the claim word for word."""
    if len(claim) > _MAX_CHARACTERS:
        return False
    own = statement(claim)
    if len(own.stems) < 2 or contrast(claim, evidence):
        return False
    there = statements(evidence)
    if is_only_comparison(own) and agreement(own, there) == 1:
        return True
    return any(_repeats(own, other) for other in there)


def _repeats(own: Statement, other: Statement) -> bool:
    if any(word in other.words and word not in own.words for word in _GUARDS):
        return False
    if any(word in own.words and word not in other.words for word in _GUARDS | _QUANTIFIERS):
        return False
    limits, given = _satisfied_limits(own, other)
    claim = tuple(i for i in own.items if i.index not in limits)
    indices = _matched(claim, other.items) if len(claim) > 1 else None
    if indices is None:
        return False
    chosen = {*indices, *(index for index, item in enumerate(other.items) if item.index in given)}
    first = other.items[indices[0]]
    if indices[0] and not _pronoun_first(own):
        return False
    if not _pronoun_first(own) and first.role:
        return False
    for index in range(indices[0], len(other.items)):
        after = index + 1 if index + 1 < len(other.items) else None
        item = other.items[index]
        follows = other.items[after] if after is not None else None
        if index in chosen and follows is not None and after not in chosen and _adjacent(item, follows):
            return False
        if index not in chosen and index < indices[-1] and _governs(other, item):
            return False
        if index >= indices[-1]:
            break
    return bool(limits) or {v.bound for v in own.values if v.bound} <= {v.bound for v in other.values}


def _matched(claim: tuple[ContentWord, ...], evidence: tuple[ContentWord, ...]) -> list[int] | None:
    """Return the positions of the claim's words in the evidence, in order; None if they do not occur in that order."""
    indices: list[int] = []
    index = 0
    for item in claim:
        while index < len(evidence) and (evidence[index].stem != item.stem or not _same_role(item, evidence[index])):
            index += 1
        if index == len(evidence):
            return None
        indices.append(index)
        index += 1
    return indices


def _same_role(claim: ContentWord, evidence: ContentWord) -> bool:
    return not claim.role or claim.role == evidence.role or not evidence.role or "of" not in (claim.role, evidence.role)


def _pronoun_first(claim: Statement) -> bool:
    words = [t.lower for t in claim.tokens if t.kind != "mark" and t.lower not in ("yes", "no")]
    return bool(words) and words[0] in _PRONOUNS


def _adjacent(one: ContentWord, other: ContentWord) -> bool:
    """Return whether two content words are adjacent: "mill owner"."""
    return other.index == one.index + 1 and not other.word.endswith("ly")


def _governs(text: Statement, item: ContentWord) -> bool:
    """Return whether a dropped word governs a remaining one: "shares of the mill", "the mayor's dog"."""
    following = text.tokens[item.index + 1].lower if item.index + 1 < len(text.tokens) else ""
    return following == "of" or text.tokens[item.index].text.endswith(("'s", "s'"))


def _satisfied_limits(claim: Statement, other: Statement) -> tuple[set[int], set[int]]:
    """Find the claim's bounds that the sentence satisfies.

    Returns the token indices of these bounds in the claim, and of the numbers in the sentence that satisfy them. A
    bound counts only if the sentence has exactly one comparable number.
    """
    limits: set[int] = set()
    given: set[int] = set()
    for value in claim.values:
        if value.number is None or not value.bound or not value.units:
            continue
        rivals = [v for v in other.values if v.number is not None and v.units and comparable(value, v)]
        if len(rivals) == 1 and rivals[0].number is not None and not differing_limit([value], rivals):
            limits.update(range(value.number.start, value.number.end))
            given.update(range(rivals[0].number.start, rivals[0].number.end))
    return limits, given
