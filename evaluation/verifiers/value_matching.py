"""Compare an answer with a reference that is a value, or yes or no."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from evaluation.language.coordination import value_is_enumerated
from evaluation.language.normalise import singular
from evaluation.language.polarity import asks_yes_or_no, has_cue, is_elliptical, states, yes_or_no
from evaluation.language.values import Value, comparable, is_less_specific_date, nearly_same, same_value
from evaluation.verifiers.answering_clause import outranked_value
from evaluation.verifiers.match import HALF, MENTIONS, Match, blocked_by, content_of
from evaluation.verifiers.reading import Reading
from model.english import WEEKDAYS, word_set

_LABELS = word_set(
    "section chapter table figure page step version room model article clause line level phase part appendix no number "
    "volume floor gate platform form paragraph question bay unit"
)

_SHORT_DAYS = word_set("mon tue tues wed weds thu thur thurs fri sat sun")
_DAYS_OF = {"weekdays": word_set("monday tuesday wednesday thursday friday"), "weekends": word_set("saturday sunday")}


def compare_polar(a: Reading, r: Reading, q: Reading) -> Match:
    """Compare with a reference that says yes or no. An answer may imply yes or no ("It is not allowed").

    a, r, q: readings of answer, reference and question.
    """
    expected, actual = yes_or_no(r.tokens), yes_or_no(a.tokens)
    if actual == "both":
        return Match("unverifiable", HALF, "the answer says yes and no")
    if not actual and asks_yes_or_no(q.tokens):
        shared = set(content_of(a.words)) & (set(content_of(q.words)) | set(content_of(r.words)))
        if (shared or is_elliptical(a.tokens)) and states(a.tokens):
            actual = "no" if has_cue(a.tokens) != has_cue(q.tokens) else "yes"
    if not actual:
        return Match("unverifiable", 0.0, f"the reference says {expected}, the answer says neither yes nor no")
    if actual != expected:
        return Match("contradicted", 0.0, f"the reference says {expected}, the answer {actual}")
    for value in r.values:
        rivals = [v for v in a.values if comparable(value, v)]
        if rivals and not any(same_value(value, v) for v in rivals):
            return Match("contradicted", 0.0, f"both say {expected}, but give different values")
    return Match("supported", 1.0, f"both say {expected}")


def _granularity(q: Reading) -> str:
    words = [t.lower for t in q.tokens]
    for first, second in pairwise(words):
        if first in ("what", "which") and second in ("year", "month"):
            return second
    return ""


def _is_label(a: Reading, q: Reading, value: Value) -> bool:
    """Return whether a number is a label ("section 4") that the question does not ask for."""
    before = a.tokens[value.start - 1].lower if value.start else ""
    if before == "." and value.start > 1:
        before = a.tokens[value.start - 2].lower
    return value.number is not None and before in _LABELS and before not in {t.lower for t in q.tokens}


def compare_values(a: Reading, r: Reading, q: Reading) -> Match:
    """Compare with a reference of values. The answer must assert each, and not as one of several.

    a, r, q: readings of answer, reference and question.
    """
    granularity = _granularity(q)
    matches: list[Match] = []
    supported = 0
    for expected in r.values:
        match = _find_value(a, r, q, expected, granularity)
        supported += match.label == "supported"
        matches.append(match)
    failed = [m for m in matches if m.label != "supported"]
    if not failed:
        return _without_weekday(a, r, q) or Match("supported", 1.0, "gives the reference's value")
    if supported:
        return Match("unverifiable", HALF * supported / len(matches), "gives only some of the reference's values")
    return max(failed, key=lambda m: (m.label == "contradicted", m.support))


def _without_weekday(a: Reading, r: Reading, q: Reading) -> Match | None:
    """Return the match for an answer with the values of "Wednesday at 10:00" but without its day.

    Returns None if the answer has the day, the question names it, or a date implies it.
    """
    if any(value.date is not None for value in r.values):
        return None
    expected = _weekdays(r) - _weekdays(q)
    actual = _weekdays(a)
    if expected <= actual:
        return None
    if actual:
        return Match("contradicted", 0.0, "gives another weekday than the reference")
    return Match("unverifiable", HALF, "gives the reference's value without its weekday")


def _weekdays(reading: Reading) -> set[str]:
    """Return the weekdays named in a text, also abbreviated or as "weekdays" or "weekends"."""
    found: set[str] = set()
    for token in reading.tokens:
        word = token.lower
        if word in _DAYS_OF:
            found |= _DAYS_OF[word]
        elif word in _SHORT_DAYS or singular(word) in WEEKDAYS:
            found |= {day for day in WEEKDAYS if day.startswith(word[:3])}
    return found


def _find_value(a: Reading, r: Reading, q: Reading, expected: Value, granularity: str) -> Match:
    candidates = [v for v in a.values if not _is_label(a, q, v)]
    same = [v for v in candidates if _same_in_context(a, expected, v, granularity)]
    reasons: list[Match] = []
    for value in same[:MENTIONS]:
        blocked = blocked_by(a, r, q, value.start, value.end)
        if blocked is None and len(r.values) == 1 and value_is_enumerated(a.tokens, a.values, value):
            blocked = Match("unverifiable", HALF, "the answer gives several values")
        if blocked is None and len(r.values) == 1:
            blocked = outranked_value(a, q, value, candidates)
        if blocked is None:
            return Match("supported", 1.0, "gives the reference's value")
        reasons.append(blocked)
    if reasons:
        return reasons[0]
    # A value of the question is repeated, not given as the answer: "The earthquake of 1755 ...".
    candidates = [v for v in candidates if not any(same_value(own, v) and same_value(v, own) for own in q.values)]
    if any(is_less_specific_date(expected, v) for v in candidates):
        return Match("unverifiable", HALF, "the answer's date is less specific than the reference's")
    if any(nearly_same(expected, v) for v in candidates):
        return Match("unverifiable", HALF, "gives the reference's number with another meaning")
    if any(comparable(expected, v) for v in candidates):
        return Match("contradicted", 0.0, "gives another value than the reference")
    return Match("unverifiable", 0.0, "gives no value, but the reference has one")


def _same_in_context(a: Reading, expected: Value, value: Value, granularity: str) -> bool:
    if same_value(expected, value, granularity):
        return True
    if expected.nouns and not expected.units and not value.units:
        # The counted noun may be elsewhere in the answer: "Of the engineers, 14 resigned".
        elsewhere = {singular(t.lower) for t in a.tokens}
        if expected.nouns <= elsewhere:
            return same_value(expected, replace(value, nouns=frozenset()), granularity)
    return False
