"""Match claims with facts: find the facts that a claim is about, and whether it states their value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from data.fact_tables import Fact
from evaluation.language.finite_verbs import has_verb
from evaluation.language.normalise import STOP_WORDS, normal_tokens, singular
from evaluation.language.value_extraction import is_pure
from evaluation.language.values import Value, comparable
from evaluation.verifiers.match import Match
from evaluation.verifiers.matching import compare
from evaluation.verifiers.reading import read_text

_LONGEST_SUBJECT = 8
_WORD = re.compile(r"\w+(?:['’.&/-]\w+)*\.?", re.UNICODE)
_SHORT_WORDS = 6
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def phrases(text: str) -> tuple[str, ...]:
    """Return all sequences of up to eight words of a text. They are candidates for a subject's name."""
    spans = [m.span() for m in _WORD.finditer(text)]
    found: dict[str, None] = {}
    for first in range(len(spans)):
        for last in range(first, min(first + _LONGEST_SUBJECT, len(spans))):
            phrase = text[spans[first][0] : spans[last][1]]
            found[phrase] = None
            found[phrase.rstrip(".")] = None
            found[re.sub(r"['’]s$", "", phrase)] = None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _MatchedText:
    """A text prepared for matching: its tokens, and the singulars of its content words."""

    tokens: tuple[str, ...]
    words: frozenset[str]


def _read(text: str) -> _MatchedText:
    tokens = normal_tokens(text)
    return _MatchedText(tokens, frozenset(singular(t) for t in tokens))


def facts_named_by(facts: Sequence[Fact], claim: str, question: str) -> tuple[Fact, ...]:
    """Return the facts whose subject and relation are named by the claim, or else by claim and question together.

    A subject inside a longer matching subject does not count ("York" in "New York").
    """
    claim_text, full_text = _read(claim), _read(f"{question} ; {claim}")
    stated = _named(facts, claim_text)
    return stated or _named(facts, full_text)


def _named(facts: Sequence[Fact], text: _MatchedText) -> tuple[Fact, ...]:
    mentions = {subject: _occurrences(normal_tokens(subject), text.tokens) for subject in {f.subject for f in facts}}
    spans = [span for found in mentions.values() for span in found]
    subjects = {
        subject
        for subject, found in mentions.items()
        if any(not _inside(span, spans) for span in found) and set(normal_tokens(subject)) - STOP_WORDS
    }
    return tuple(f for f in facts if f.subject in subjects and _asks(f, text))


def _occurrences(part: Sequence[str], tokens: Sequence[str]) -> list[tuple[int, int]]:
    size = len(part)
    if not size:
        return []
    return [(i, i + size) for i in range(len(tokens) - size + 1) if tuple(tokens[i : i + size]) == tuple(part)]


def _inside(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    return any(other != span and other[0] <= span[0] and span[1] <= other[1] for other in spans)


def _asks(fact: Fact, text: _MatchedText) -> bool:
    """Return whether every word of the relation, or of one of its cues, occurs."""
    return any(words and words <= text.words for words in map(_relation_words, (fact.relation, *fact.cues)))


def _relation_words(relation: str) -> frozenset[str]:
    plain = _CAMEL.sub(" ", relation).replace("_", " ")
    words = [w for w in normal_tokens(plain) if w not in STOP_WORDS]
    return frozenset(singular(w) for w in words or normal_tokens(plain))


def judge_by_fact(fact: Fact, claim: str, question: str, tolerance: float, threshold: float) -> Match:
    """Judge a claim by the value of one fact.

    tolerance: relative tolerance of numbers. The fact's own tolerance has priority.
    threshold: token F1 from which words count as the value (see ReferenceVerifier).
    """
    if _within(fact, claim, tolerance):
        return Match("supported", 1.0, "the number is within the tolerance of the value")
    return compare(claim, fact.value, question, threshold)


def _within(fact: Fact, claim: str, tolerance: float) -> bool:
    reading = read_text(fact.value)
    if len(reading.values) != 1 or reading.values[0].number is None or not is_pure(reading.tokens, reading.values):
        return False
    value = reading.values[0]
    allowed = Fraction(fact.tolerance) if fact.tolerance is not None else abs(_base(value)) * Fraction(tolerance)
    if not allowed:
        return False
    if fact.tolerance is not None and value.units:
        allowed *= value.units[0].factor
    return any(
        other.number is not None and not other.bound and comparable(value, other) and _near(value, other, allowed)
        for other in read_text(claim).values
    )


def _near(value: Value, other: Value, allowed: Fraction) -> bool:
    """Return whether two values differ by at most ``allowed``. A number without a unit gets the value's unit."""
    shared = [(u, v) for u in value.units for v in other.units if u.dimension == v.dimension]
    if value.number is None or other.number is None or (value.units and other.units and not shared):
        return False
    one, two = shared[0] if shared else (None, None)
    value_factor = one.factor if one else (value.units[0].factor if value.units else Fraction(1))
    other_factor = two.factor if two else value_factor
    return abs(value.number.value * value_factor - other.number.value * other_factor) <= allowed


def _base(value: Value) -> Fraction:
    factor = value.units[0].factor if value.units else Fraction(1)
    return (value.number.value if value.number else Fraction(0)) * factor


def contradicting_value(fact: Fact, claim: str, question: str, others: Sequence[str]) -> str | None:
    """Return a different value of the relation that the claim states; None if it states none.

    others: values of the relation for other subjects.

    A short answer without a verb that shares no word with the value is itself a different value.
    """
    text = _read(claim)
    named = set(normal_tokens(fact.subject)) | set(_relation_words(fact.relation))
    for other in others:
        tokens = normal_tokens(other)
        if set(tokens) <= named or not set(tokens) - STOP_WORDS or other == fact.value:
            continue
        if _occurrences(tokens, text.tokens) and not _occurrences(tokens, normal_tokens(question)):
            return other
    content = [t for t in text.tokens if t not in STOP_WORDS]
    # A full sentence may be about anything. Only a bare answer stands for a value.
    bare = len(claim.split()) <= _SHORT_WORDS and not has_verb(claim)
    known = set(normal_tokens(fact.value)) | named
    if content and bare and not _occurrences(normal_tokens(fact.subject), text.tokens) and not set(content) & known:
        return claim
    return None
