"""Rule-based detection of claims that reuse the words of an evidence sentence but differ in meaning, for English.

Entailment networks accept such claims (McCoy et al. 2019, "Right for the Wrong Reasons", HANS; Glockner et al. 2018,
"Breaking NLI Systems"). A claim is compared with the sentence or clause that shares most of its words. The rules count
meaning-reversing differences: a negation, an opposite word, a converse verb, the voice, exchanged arguments. Two of
them cancel ("B was bought by A" for "A bought B"), one does not.
"""

from __future__ import annotations

from functools import lru_cache

from evaluation.contrast.comparing import agreement
from evaluation.contrast.exchanged_arguments import exchange, roles_exchanged
from evaluation.contrast.opposite_words import opposite
from evaluation.contrast.quantity_rules import differing_limit, differing_quantity
from evaluation.contrast.statement import Statement, statement, statements
from evaluation.language.opposites import converse

COVERED = 0.8
"""Minimum share of a claim's content words that a sentence must contain for the two to be compared."""
SIMILAR = 0.75
"""Minimum share of a sentence's content words that the claim must contain for word order to be compared."""
_MIN_STEMS = 2
_MAX_CHARACTERS = 600


@lru_cache(maxsize=16_384)
def contrast(claim: str, evidence: str) -> str:
    """Return how the claim differs from the evidence sentence that it resembles; "" if no rule finds a difference."""
    if len(claim) > _MAX_CHARACTERS:
        return ""
    own = statement(claim)
    if len(own.stems) < _MIN_STEMS:
        return ""
    agreed = agreement(own, statements(evidence))
    if agreed == -1:
        return "the evidence states the comparison in reverse"
    if agreed == 1 and not own.values:
        return ""
    best: list[tuple[float, Statement]] = []
    for other in statements(evidence):
        if len(other.items) > 80:
            continue
        covered = _covered(own, other)
        if covered >= COVERED:
            best.append((covered, other))
    if not best:
        return ""
    top = max(covered for covered, _ in best)
    reasons = [_difference(own, other) for covered, other in best if covered >= top - 1e-9]
    return reasons[0] if all(reasons) else ""


def _covered(claim: Statement, other: Statement) -> float:
    stems, words = other.stems, {i.word for i in other.items}
    own = {i.stem: i.word for i in claim.items}
    found = sum(s in stems or any(opposite(w, v) or converse(w, v) for v in words) for s, w in own.items())
    shared = len(own.keys() & stems)
    return found / len(own) if shared >= _MIN_STEMS or found == len(own) > 1 else 0.0


def _difference(claim: Statement, other: Statement) -> str:
    quantity = differing_quantity(claim, other)
    if quantity:
        return quantity
    bound = differing_limit(claim.values, other.values)
    if bound:
        return bound
    flips: list[str] = []
    if _denied(claim, other) != _denied(other, claim):
        flips.append("one of the two is negated")
    opposites = _opposites(claim, other)
    if opposites % 2:
        flips.append("a word is replaced by its opposite")
    exchanged, converses, voices = exchange(claim, other) if _similar(claim, other) else (False, False, False)
    if converses:
        flips.append("the verb is replaced by its converse")
    if voices:
        flips.append("the voice differs")
    if exchanged:
        flips.append("two of its arguments are exchanged")
    if len(flips) % 2:
        return flips[-1] if exchanged else flips[0]
    moved = not exchanged and _similar(claim, other) and roles_exchanged(claim, other)
    return "two of its arguments have changed roles" if moved else ""


def _similar(claim: Statement, other: Statement) -> bool:
    """Return whether both have nearly the same words, so that word order can be compared."""
    return _covered(other, claim) >= SIMILAR


def _denied(own: Statement, other: Statement) -> bool:
    """Return whether an odd number of negations apply to words that both contain."""
    count = 0
    for index in own.denials:
        end = _scope_end(own, index)
        if end is None:
            continue
        scope = [i for i in own.items if index < i.index < end][:6]
        before = [i for i in own.items if i.index < index][-2:]
        shared = [i for i in scope if i.stem in other.stems or any(opposite(i.word, w) for w in other.words)]
        if scope:
            count += len(shared) * 2 >= len(scope)
        else:
            count += any(i.stem in other.stems for i in before)
    return count % 2 == 1


def _scope_end(own: Statement, position: int) -> int | None:
    """Return the token index where the scope of a negation ends (a punctuation mark or a new clause).

    None if "until" or the like reverses the negation.
    """
    for index in range(position + 1, len(own.tokens)):
        word = own.tokens[index].lower
        if word in ("until", "till", "unless"):
            return None
        if own.tokens[index].kind == "mark" and word not in ("-", "%", "'", "$", "€"):
            return index
        if word in ("but", "while", "whereas", "although", "because", "which", "who"):
            return index
    return len(own.tokens)


def _opposites(claim: Statement, other: Statement) -> int:
    """Count the words that only the claim has and that are opposites of words that only the sentence has."""
    mine, theirs = claim.words - other.words, other.words - claim.words
    used: set[str] = set()
    found = 0
    for word in sorted(mine):
        match = next((w for w in sorted(theirs - used) if opposite(word, w)), None)
        joins = any(word == joint for joint, _ in claim.joints)
        # In "from 1984 to 1989", "to" already gives the end.
        ended = {word, match} <= {"from", "until", "till"} and "to" in (claim.words | other.words)
        if match is not None and not ended and (joins or _neighbours(claim, word) & _neighbours(other, match)):
            used.add(match)
            found += 1
    return found


def _neighbours(text: Statement, word: str) -> set[str]:
    """Return the content words directly before and after a word, at any of its positions."""
    found: set[str] = set()
    for index, token in enumerate(text.tokens):
        if token.lower == word:
            before = [i.stem for i in text.items if i.index < index][-1:]
            found.update(before, [i.stem for i in text.items if i.index > index][:1])
    return found
