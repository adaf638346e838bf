"""Whether evidence contradicts a claim, and how: by rule, English. What no rule sees is no contradiction.

Two kinds: the differences of ``evaluation.contrast.contrast`` (a denial, an opposite, exchanged parts, another bound),
and another value of the same kind where all else is the same ("opens at 10:00" against "opens at 9:00").
"""

from __future__ import annotations

from evaluation.contrast.contrast import ALIKE, contrast
from evaluation.contrast.statement import Statement, statement, statements
from evaluation.language.values import Value, comparable, nearly_same, only_less_specific, same_value
from model.english import word_set

_HEDGES = word_set("about around approximately roughly nearly almost circa some")
"""Words that make a value an approximate one."""
ROUNDING = 0.02
"""Relative difference up to which a number with a unit may be another one rounded: no contradiction."""


def contradiction(claim: str, evidence: str) -> str:
    """Why the evidence contradicts the claim; "" where it does not, or no rule can tell."""
    found = contrast(claim, evidence)
    if found:
        return f"the evidence says otherwise: {found}"
    said = statement(claim)
    if not said.values or said.words & _HEDGES:
        return ""
    alike = [other for other in statements(evidence) if _alike(said, other) and not other.words & _HEDGES]
    reasons = [_other_value(said, other) for other in alike]
    return reasons[0] if reasons and all(reasons) else ""


def _alike(said: Statement, other: Statement) -> bool:
    """Whether both say the same but for their values: nearly the same other words, and both or none deny it."""
    own, theirs = _stems(said), _stems(other)
    shared = len(own & theirs)
    return bool(own) and shared >= ALIKE * max(len(own), len(theirs)) and bool(said.denials) == bool(other.denials)


def _stems(text: Statement) -> frozenset[str]:
    inside = {place for value in text.values for place in range(value.start, value.end)}
    return frozenset(item.stem for item in text.items if item.place not in inside)


def _other_value(said: Statement, other: Statement) -> str:
    """What stands in the evidence in place of a value of the claim; "" where every value may be the same."""
    for value in said.values:
        rivals = [v for v in other.values if comparable(value, v)]
        if rivals and not any(_agree(value, rival) for rival in rivals):
            return f"the evidence says {_words(other, rivals[0])}, the claim {_words(said, value)}"
    return ""


def _agree(value: Value, rival: Value) -> bool:
    if value.bound != rival.bound:  # contrast compares limits
        return True
    rounded = value.number is not None and rival.number is not None and bool(value.units) and _close(value, rival)
    return rounded or same_value(rival, value) or only_less_specific(rival, value) or nearly_same(rival, value)


def _close(value: Value, rival: Value) -> bool:
    """Whether a measured number may be the other one rounded."""
    if value.number is None or rival.number is None:
        return False
    one, other = value.number.value, rival.number.value
    return one != other and abs(one - other) <= ROUNDING * abs(other)


def _words(text: Statement, value: Value) -> str:
    return " ".join(token.text for token in text.tokens[value.start : value.end])
