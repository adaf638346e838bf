"""Rule-based detection of contradictions between a claim and its evidence, for English.

A claim without a match is not contradicted. Two kinds are detected: the differences of ``evaluation.contrast.contrast``
(negation, opposite, exchanged arguments, another bound), and a different value of the same kind in otherwise equal
sentences ("opens at 10:00", "opens at 9:00").
"""

from __future__ import annotations

from evaluation.contrast.contrast import SIMILAR, contrast
from evaluation.contrast.statement import Statement, statement, statements
from evaluation.language.values import Value, comparable, is_less_specific_date, nearly_same, same_value
from model.english import word_set

_HEDGES = word_set("about around approximately roughly nearly almost circa some")
"""Words that mark a value as approximate."""
ROUNDING = 0.02
"""Relative difference up to which a number with a unit counts as rounded, not as contradicted."""


def contradiction(claim: str, evidence: str) -> str:
    """Return why the evidence contradicts the claim; "" if it does not, or if no rule applies."""
    found = contrast(claim, evidence)
    if found:
        return f"the evidence says otherwise: {found}"
    own = statement(claim)
    if not own.values or own.words & _HEDGES:
        return ""
    similar = [other for other in statements(evidence) if _similar(own, other) and not other.words & _HEDGES]
    reasons = [_other_value(own, other) for other in similar]
    return reasons[0] if reasons and all(reasons) else ""


def _similar(claim: Statement, other: Statement) -> bool:
    """Return whether both have nearly the same words besides their values, and both or neither contain a negation."""
    own, theirs = _stems(claim), _stems(other)
    shared = len(own & theirs)
    return bool(own) and shared >= SIMILAR * max(len(own), len(theirs)) and bool(claim.denials) == bool(other.denials)


def _stems(text: Statement) -> frozenset[str]:
    inside = {index for value in text.values for index in range(value.start, value.end)}
    return frozenset(item.stem for item in text.items if item.index not in inside)


def _other_value(claim: Statement, other: Statement) -> str:
    """Return the evidence's value that conflicts with a value of the claim; "" if every value may agree."""
    for value in claim.values:
        rivals = [v for v in other.values if comparable(value, v)]
        if rivals and not any(_agree(value, rival) for rival in rivals):
            return f"the evidence says {_words(other, rivals[0])}, the claim {_words(claim, value)}"
    return ""


def _agree(value: Value, rival: Value) -> bool:
    if value.bound != rival.bound:  # ``contrast`` compares the bounds
        return True
    rounded = value.number is not None and rival.number is not None and bool(value.units) and _close(value, rival)
    return rounded or same_value(rival, value) or is_less_specific_date(rival, value) or nearly_same(rival, value)


def _close(value: Value, rival: Value) -> bool:
    """Return whether one measured number may be the other one rounded."""
    if value.number is None or rival.number is None:
        return False
    one, other = value.number.value, rival.number.value
    return one != other and abs(one - other) <= ROUNDING * abs(other)


def _words(text: Statement, value: Value) -> str:
    return " ".join(token.text for token in text.tokens[value.start : value.end])
