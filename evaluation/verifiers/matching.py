"""Compare an answer with one reference: supported, contradicted or unverifiable, with V and a reason."""

from __future__ import annotations

import re

from evaluation.language.items import split_items
from evaluation.language.normalise import normalise, token_f1
from evaluation.language.polarity import has_cue, yes_or_no
from evaluation.language.unspaced import is_unspaced
from evaluation.language.value_extraction import is_pure
from evaluation.verifiers.designations import compare_designations
from evaluation.verifiers.match import HALF, Match, content_of
from evaluation.verifiers.reading import Reading, read_text
from evaluation.verifiers.text_matching import compare_lists, compare_texts
from evaluation.verifiers.unspaced_matching import compare_unspaced
from evaluation.verifiers.value_matching import compare_polar, compare_values

_ITEM_WORDS = 4


def compare(answer: str, reference: str, question: str, threshold: float) -> Match:
    """Compare an answer with one reference. threshold: token F1 from which an answer counts as supported."""
    if _same_text(answer, reference):
        return Match("supported", 1.0, "equals the reference")
    if is_unspaced(reference) or (is_unspaced(answer) and not reference.isascii()):
        return compare_unspaced(answer, reference)
    special = compare_designations(answer, reference, question)
    if special is not None:
        return special
    a, r, q = read_text(answer), read_text(reference), read_text(question)
    if yes_or_no(r.tokens) in ("yes", "no"):
        return compare_polar(a, r, q)
    negation = _negation_conflict(a, r)
    if negation is not None:
        return negation
    if is_pure(r.tokens, r.values):
        return compare_values(a, r, q)
    items = split_items(r.marked)
    joined = any(m in ("and", "&", ";") for m in r.marked)
    if len(items) >= (2 if joined else 3) and all(len(i) <= _ITEM_WORDS for i in items):
        return compare_lists(a, r, q, items)
    return compare_texts(a, r, q, threshold)


def _same_text(answer: str, reference: str) -> bool:
    one, other = normalise(answer), normalise(reference)
    if one == other or _closed(one) == _closed(other):
        return True
    no_digits = not any(c.isdigit() for c in answer + reference)
    return no_digits and "-" in answer + reference and one.replace(" ", "") == other.replace(" ", "")


def _closed(text: str) -> str:
    """Remove spaces between a letter and a digit, so that "ab 200" equals "ab200"."""
    return re.sub(r"(?<=[a-z]) (?=\d)|(?<=\d) (?=[a-z]\b)", "", text)


def _negation_conflict(a: Reading, r: Reading) -> Match | None:
    """Return the match for a reference that negates something that the answer does not negate, else None."""
    if not has_cue(r.tokens) or has_cue(a.tokens) or yes_or_no(a.tokens) == "no":
        return None
    share = token_f1(content_of(a.words), content_of(r.words))
    if share >= HALF:
        return Match("contradicted", 0.0, "the reference denies what the answer affirms")
    return Match("unverifiable", min(share, HALF), "the reference denies something, the answer does not")
