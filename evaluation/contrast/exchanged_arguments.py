"""Rules on word order: arguments exchanged around a word, exchanged prepositions, converse verbs, and voice."""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.contrast.opposite_words import opposite
from evaluation.contrast.statement import ContentWord, Statement
from evaluation.language.opposites import COMPARATIVES, converse, opposite_of_statement
from model.english import word_set

_SYMMETRIC = word_set(
    "next near beside adjacent equal same similar different marry married meet met border neighbour neighbor "
    "merge merged "
    "cooperate together between identical parallel connect connected link linked twin join joined share shared "
    "and or plus "
    "versus equals agree differ"
)


def _once(items: Iterable[ContentWord]) -> dict[str, ContentWord]:
    """Return the items whose stem occurs once in the sentence, by stem."""
    found: dict[str, ContentWord | None] = {}
    for item in items:
        found[item.stem] = None if item.stem in found else item
    return {stem: item for stem, item in found.items() if item is not None}


def exchange(claim: Statement, other: Statement) -> tuple[bool, bool, bool]:
    """Compare the order of arguments in the claim and in the sentence.

    Returns whether two arguments are exchanged around a shared word, whether some word is replaced by its converse, and
    whether the voice of a verb differs.
    """
    mine, theirs = _once(claim.items), _once(other.items)
    shared = [s for s in mine if s in theirs]
    pivots: list[tuple[int, int, bool, bool, str]] = []
    for s in shared:
        voices = _voices_differ(claim, mine[s].index, other, theirs[s].index)
        pivots.append((mine[s].index, theirs[s].index, False, voices, mine[s].word))
    for item in claim.items:
        if item.stem in theirs:
            continue
        match = next((o for o in other.items if o.stem not in mine and converse(item.word, o.word)), None)
        if match is not None:
            voices = _voices_differ(claim, item.index, other, match.index)
            pivots.append((item.index, match.index, True, voices, item.word))
        comparative = next((o for o in other.items if item.word in COMPARATIVES and opposite(item.word, o.word)), None)
        if comparative is not None:
            pivots.append((item.index, comparative.index, False, False, item.word))
    for word, index in claim.joints:
        joint = next((p for w, p in other.joints if w == word or opposite_of_statement(w, word)), None)
        if joint is not None:
            pivots.append((index, joint, False, False, word))
    converses = any(p[2] for p in pivots)
    voices = any(p[3] for p in pivots)
    for own, their, _, _, word in pivots:
        if word in _SYMMETRIC:
            continue
        moved_right = [s for s in shared if theirs[s].index < their and mine[s].index > own]
        moved_left = [s for s in shared if theirs[s].index > their and mine[s].index < own]
        for a in moved_right:
            for b in moved_left:
                if _listed(other, theirs[a].index, theirs[b].index) or _listed(claim, mine[a].index, mine[b].index):
                    continue
                if _moved_with_numbers(claim, other, mine, theirs, a, b):
                    continue
                if not _moved_phrases(mine[a], theirs[a], mine[b], theirs[b]):
                    return True, converses, voices
    return False, converses, voices


def _voices_differ(claim: Statement, own: int, other: Statement, their: int) -> bool:
    """Return whether one verb is a passive with a named agent and the other is active."""
    if own in claim.passive:
        return their not in other.after_be
    return their in other.passive and own not in claim.after_be


def _moved_with_numbers(
    claim: Statement, other: Statement, mine: dict[str, ContentWord], theirs: dict[str, ContentWord], a: str, b: str
) -> bool:
    """Return whether two words moved together with their following numbers: "adults 12 euros, children 7 euros"."""
    own = [_next_number(claim, mine[s].index) for s in (a, b)]
    there = [_next_number(other, theirs[s].index) for s in (a, b)]
    return own == there and own[0] != own[1] and None not in own


def _next_number(text: Statement, index: int) -> str | None:
    if text.tokens[index].kind == "number":
        return None
    return next((i.stem for i in text.items if i.index > index and text.tokens[i.index].kind == "number"), None)


def _moved_phrases(a: ContentWord, a_there: ContentWord, b: ContentWord, b_there: ContentWord) -> bool:
    """Return whether two phrases only changed position, each with its preposition: "in May for 5 euros"."""
    kept = a.role == a_there.role and b.role == b_there.role
    return kept and a.role != b.role and bool(a.role or b.role) and "by" not in (a.role, b.role)


def _listed(text: Statement, one: int, other: int) -> bool:
    """Return whether only list items and separators are between two positions: "Norway, Sweden and Denmark"."""
    low, high = sorted((one, other))
    between = text.tokens[low + 1 : high]
    marks = [t for t in between if t.text in (",", ";", "/") or t.lower in ("and", "or", "&")]
    rest = [t for t in between if t not in marks]
    return (
        bool(marks)
        and len(rest) <= 2 * len(marks)
        and all(
            t.kind == "word"
            and (t.text[0].isupper() or len(between) <= 4)
            and t.lower not in ("is", "was", "are", "were")
            for t in rest
        )
        and not any(t.kind == "number" for t in (text.tokens[low], text.tokens[high]))
    )


def roles_exchanged(claim: Statement, other: Statement) -> bool:
    """Return whether two words exchanged prepositions: "from the hut to the lake" for "from the lake to the hut"."""
    mine, theirs = _once(claim.items), _once(other.items)
    shared = [s for s in mine if s in theirs and mine[s].role and theirs[s].role]
    return any(
        mine[a].role != theirs[a].role and mine[a].role == theirs[b].role and mine[b].role == theirs[a].role
        for a in shared
        for b in shared
        if a != b
    )
