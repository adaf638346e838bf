"""Compare an answer with a reference that is a list or free text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from evaluation.language.coordination import phrase_is_enumerated
from evaluation.language.items import contains, cover, split_items
from evaluation.language.normalise import STOP_WORDS, Token, singular, token_f1
from evaluation.language.value_extraction import is_pure
from evaluation.language.values import comparable, same_value
from evaluation.verifiers.answering_clause import outranked_phrase
from evaluation.verifiers.match import HALF, MENTIONS, NOT_SUPPORTED_CEILING, Match, blocked_by, content_of
from evaluation.verifiers.reading import Reading, Word

_CARRIED_SHARE = 2 / 3
_ROMAN = re.compile(r"^(?=[IVX])(X{0,3})(IX|IV|V?I{0,3})$")


def compare_lists(a: Reading, r: Reading, q: Reading, items: Sequence[tuple[str, ...]]) -> Match:
    """Compare with a reference list. The answer must give all of its items and no others, in any order.

    a, r, q: readings of answer, reference and question.
    items: words of each item of the reference.
    """
    coverage = cover(items, split_items(a.marked), frozenset(w.text for w in q.plain))
    texts = a.word_texts
    for item in items:
        index = contains(texts, item)
        if index is not None:
            start, end = a.words[index].start, a.words[index + len(item) - 1].end
            blocked = blocked_by(a, r, q, start, end)
            if blocked is not None:
                return blocked
    if not coverage.missing and not coverage.extra:
        return Match("supported", 1.0, "gives the reference's items and no others")
    parts = []
    if coverage.missing:
        parts.append("misses " + ", ".join(coverage.missing))
    if coverage.extra:
        parts.append("adds " + ", ".join(coverage.extra))
    return Match(
        "unverifiable", min(coverage.f1, NOT_SUPPORTED_CEILING), "of the reference's list it " + " and ".join(parts)
    )


def _occurrences(words: Sequence[Word], part: Sequence[Word]) -> tuple[tuple[int, int], ...]:
    """Return the token ranges where ``part`` occurs in ``words`` as complete words."""
    part_texts = [p.text for p in part]
    size = len(part_texts)
    return tuple(
        (words[i].start, words[i + size - 1].end)
        for i in range(len(words) - size + 1)
        if size and [w.text for w in words[i : i + size]] == part_texts
    )


def _designated(tokens: Sequence[Token], end: int) -> bool:
    """Return whether a following number or Roman numeral names another entity: "Kestrel 2", "Elizabeth II"."""
    after = (
        end + 1
        if end + 1 < len(tokens) and tokens[end].text == "-" and tokens[end].start == tokens[end - 1].end
        else end
    )
    if after >= len(tokens):
        return False
    token = tokens[after]
    closing = after + 1 >= len(tokens) or tokens[after + 1].kind == "mark" or tokens[after + 1].lower in STOP_WORDS
    if token.kind == "number":
        return closing and ":" not in token.number
    return bool(_ROMAN.match(token.text)) and len(token.text) > 1


def compare_texts(a: Reading, r: Reading, q: Reading, threshold: float) -> Match:
    """Compare with a free-text reference: containment in either direction, then token F1 against the threshold.

    a, r, q: readings of answer, reference and question.
    """
    values_agree = all(any(same_value(w, v) for v in a.values) for w in r.values)
    if not values_agree:
        return _other_values(a, r)
    reasons: list[Match] = []
    occurrences = _occurrences(a.words, r.words) or (_occurrences(a.plain, r.plain) if not r.values else ())
    for start, end in occurrences[:MENTIONS]:
        reason = blocked_by(a, r, q, start, end)
        in_date = any(v.date is not None and v.start <= start < v.end for v in a.values)
        if reason is None and not in_date and _designated(a.tokens, end):
            reason = Match("unverifiable", HALF, "the answer names another entity with the same name")
        if reason is None and not r.values and phrase_is_enumerated(a.tokens, start, end):
            reason = Match("unverifiable", HALF, "the answer names several alternatives")
        if reason is None:
            reason = outranked_phrase(a, r, q, start, end)
        if reason is None:
            return Match("supported", 1.0, "contains the reference")
        reasons.append(reason)
    if reasons:
        return reasons[0]
    blocked = blocked_by(a, r, q, *_shared_span(a, r))
    f1 = token_f1([singular(w.text) for w in a.words], [singular(w.text) for w in r.words])
    if blocked is not None:
        return Match(blocked.label, min(blocked.support, f1), blocked.reason) if f1 >= HALF else _weak(f1)
    if _carries(a, r, q):
        return Match("supported", 1.0, "is a part of the reference with most of its content")
    answer_content, reference_content = Counter(content_of(a.words)), Counter(content_of(r.words))
    if (answer_content - reference_content and reference_content - answer_content) or _numbers(a) != _numbers(r):
        return _weak(min(f1, HALF))
    if f1 >= threshold:
        return Match("supported", f1, f"token F1 {f1:.2f} with the reference")
    return _weak(f1)


def _weak(f1: float) -> Match:
    return Match("unverifiable", min(f1, NOT_SUPPORTED_CEILING), f"token F1 {f1:.2f} with the reference is too low")


def _numbers(reading: Reading) -> tuple[str, ...]:
    return tuple(w.text for w in reading.words if w.text.startswith("="))


def _shared_span(a: Reading, r: Reading) -> tuple[int, int]:
    """Return the answer's token range from the first to the last content word shared with the reference, or (0, 0)."""
    reference_words = {w.text for w in r.words if w.text not in STOP_WORDS}
    shared = [w for w in a.words if w.text in reference_words]
    return (shared[0].start, shared[-1].end) if shared else (0, 0)


def _carries(a: Reading, r: Reading, q: Reading) -> bool:
    """Return whether the answer is a part of the reference with enough content beyond the question."""
    if not _occurrences(r.words, a.words) or not content_of(a.words):
        return False
    question_words = set(content_of(q.words))
    required_words = [w for w in content_of(r.words) if w not in question_words] or list(content_of(r.words))
    answer_words = set(content_of(a.words))
    count = sum(w in answer_words for w in required_words)
    return count >= _CARRIED_SHARE * len(required_words)


def _other_values(a: Reading, r: Reading) -> Match:
    """Return the match for a reference with a value that the answer does not give."""
    f1 = token_f1([singular(w.text) for w in a.words], [singular(w.text) for w in r.words])
    missing = [w for w in r.values if not any(same_value(w, v) for v in a.values)]
    rivals = any(comparable(w, v) for w in missing for v in a.values)
    rest = [w for w in content_of(r.words) if not w.startswith("=")]
    covered = all(w in content_of(a.words) for w in rest)
    if rivals and (covered or is_pure(a.tokens, a.values)):
        return Match("contradicted", 0.0, "gives another value than the reference")
    return Match("unverifiable", min(f1, HALF), "does not give the reference's value")
