"""Rules on quantifiers, modal verbs and numeric bounds of a claim and an evidence sentence."""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.contrast.statement import Statement
from evaluation.language.values import Value, comparable
from model.english import word_set

_EVERY = word_set("all every each everyone everybody always entire entirely whole both")
_SOME = word_set("some several many most few sometimes often usually half partly certain")
_ONLY = word_set("only solely exclusively alone")
_MUST = word_set("must required mandatory compulsory obligatory")
_MAY = word_set("may might can could optional optionally")


def differing_quantity(claim: Statement, other: Statement) -> str:
    """Return how the claim's quantifier or modal verb is stronger than the sentence's; "" if it is not."""
    if claim.words & _EVERY and other.words & _SOME and not other.words & _EVERY:
        return "it generalises to all what the evidence says about some"
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
