"""Detects claims that reuse the words of an evidence sentence but say something else, by rule, for English.

Entailment networks accept such claims (McCoy et al. 2019, "Right for the Wrong Reasons", HANS; Glockner et al. 2018,
"Breaking NLI Systems"). A claim is compared with the sentence or clause that shares most of its words. The rules count
meaning-reversing differences: a negation, an opposite word, a converse verb, the voice, exchanged arguments. Two of
them cancel ("B was bought by A" for "A bought B"), one does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from evaluation.contrast.comparing import agreement
from evaluation.contrast.statement import ContentWord, Statement, statement, statements
from evaluation.language.opposites import COMPARATIVES, converse, opposite_comparatives, opposite_of_statement
from evaluation.language.values import Value, comparable
from model.english import word_set

COVERED = 0.8
"""Minimum share of a claim's content words in a sentence for the two to be compared."""
SIMILAR = 0.75
"""Minimum share of a sentence's content words in the claim for word order to be compared."""
_LEAST = 2
_MOST_CHARACTERS = 600
_EVERY = word_set("all every each everyone everybody always entire entirely whole both")
_SOME = word_set("some several many most few sometimes often usually half partly certain")
_ONLY = word_set("only solely exclusively alone")
_MUST = word_set("must required mandatory compulsory obligatory")
_MAY = word_set("may might can could optional optionally")
_SYMMETRIC = word_set(
    "next near beside adjacent equal same similar different marry married meet met border neighbour neighbor "
    "merge merged "
    "cooperate together between identical parallel connect connected link linked twin join joined share shared "
    "and or plus "
    "versus equals agree differ"
)
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "non-")


@lru_cache(maxsize=16_384)
def contrast(claim: str, evidence: str) -> str:
    """Return how the claim differs from the evidence sentence that it resembles; "" if no rule finds a difference."""
    if len(claim) > _MOST_CHARACTERS:
        return ""
    own = statement(claim)
    if len(own.stems) < _LEAST:
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
    found = sum(s in stems or any(_opposite(w, v) or converse(w, v) for v in words) for s, w in own.items())
    shared = len(own.keys() & stems)
    return found / len(own) if shared >= _LEAST or found == len(own) > 1 else 0.0


def _opposite(one: str, other: str) -> bool:
    if opposite_of_statement(one, other) or opposite_comparatives(one, other):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and any(long == prefix + short for prefix in _PREFIXES)


def _difference(claim: Statement, other: Statement) -> str:
    quantity = _quantities(claim, other)
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
    exchanged, converses, voices = _exchange(claim, other) if _similar(claim, other) else (False, False, False)
    if converses:
        flips.append("the verb is replaced by its converse")
    if voices:
        flips.append("the voice differs")
    if exchanged:
        flips.append("two of its arguments are exchanged")
    if len(flips) % 2:
        return flips[-1] if exchanged else flips[0]
    moved = not exchanged and _similar(claim, other) and _roles_exchanged(claim, other)
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
        shared = [i for i in scope if i.stem in other.stems or any(_opposite(i.word, w) for w in other.words)]
        if scope:
            count += len(shared) * 2 >= len(scope)
        else:
            count += any(i.stem in other.stems for i in before)
    return count % 2 == 1


def _scope_end(own: Statement, position: int) -> int | None:
    """Return the token index where the scope of a negation ends (a mark or a new clause); None if "until" reverses
    it."""
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
    """Count the words of the claim that are opposites of words that only the sentence has."""
    mine, theirs = claim.words - other.words, other.words - claim.words
    used: set[str] = set()
    found = 0
    for word in sorted(mine):
        match = next((w for w in sorted(theirs - used) if _opposite(word, w)), None)
        joins = any(word == joint for joint, _ in claim.joints)
        # "from 1984 to 1989" has an end as well.
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


def _quantities(claim: Statement, other: Statement) -> str:
    if claim.words & _EVERY and other.words & _SOME and not other.words & _EVERY:
        return "it generalises to all what the evidence says of some"
    if claim.words & _ONLY and not other.words & (_ONLY | {"just", "except", "exclusive", "sole"}):
        return "it adds 'only', which the evidence does not say"
    if claim.words & _MUST and other.words & _MAY and not other.words & _MUST and not other.denials:
        return "it requires what the evidence permits"
    return ""


def differing_limit(claim: Iterable[Value], other: Iterable[Value]) -> str:
    """Return how a bound of the claim conflicts with the sentence's only comparable number; "" if none does."""
    there = [v for v in other if v.number is not None]
    for value in claim:
        if value.number is None or not value.bound:
            continue
        rivals = [v for v in there if comparable(value, v)]
        if len(rivals) != 1 or rivals[0].number is None:
            continue
        limit, given = value.number.value, rivals[0].number.value
        factors = [(u.factor, v.factor) for u in value.units for v in rivals[0].units if u.dimension == v.dimension]
        if factors:
            limit, given = limit * factors[0][0], given * factors[0][1]
        if not _satisfies(value.bound, limit, rivals[0].bound, given):
            return "its bound differs from that of the evidence"
    return ""


def _satisfies(bound: str, limit: object, other: str, given: object) -> bool:
    low, high = ("above", "at least"), ("below", "at most")
    if not isinstance(limit, int | float) and not hasattr(limit, "numerator"):
        return True
    if bound in low:
        return other not in high and (given > limit or (given == limit and (bound == "at least" or other == "above")))  # type: ignore[operator]
    if bound in high:
        return other not in low and (given < limit or (given == limit and (bound == "at most" or other == "below")))  # type: ignore[operator]
    return True


def _once(items: Iterable[ContentWord]) -> dict[str, ContentWord]:
    """Return the items whose word occurs once in the sentence."""
    found: dict[str, ContentWord | None] = {}
    for item in items:
        found[item.stem] = None if item.stem in found else item
    return {stem: item for stem, item in found.items() if item is not None}


def _exchange(claim: Statement, other: Statement) -> tuple[bool, bool, bool]:
    """Return whether two arguments are exchanged around a shared word, whether that word is a converse, whether its
    voice differs."""
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
        comparative = next((o for o in other.items if item.word in COMPARATIVES and _opposite(item.word, o.word)), None)
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


def _roles_exchanged(claim: Statement, other: Statement) -> bool:
    """Return whether two words exchanged prepositions: "from the hut to the lake" for "from the lake to the hut"."""
    mine, theirs = _once(claim.items), _once(other.items)
    shared = [s for s in mine if s in theirs and mine[s].role and theirs[s].role]
    return any(
        mine[a].role != theirs[a].role and mine[a].role == theirs[b].role and mine[b].role == theirs[a].role
        for a in shared
        for b in shared
        if a != b
    )
