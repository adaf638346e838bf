"""Detect unresponsive answers, which no reference supports and which say nothing false."""

from __future__ import annotations

import re
from collections.abc import Sequence

from data.questions import Question
from evaluation.language.polarity import asks_yes_or_no
from evaluation.outcomes import Verdict
from evaluation.verifiers.match import HALF
from evaluation.verifiers.reading import read_text
from evaluation.verifiers.source_words import SOURCE_WORDS, content_and_numbers
from model.verifier.content_words import content_words

_FEWEST_WORDS = 3
"""Minimum number of content words of an answer that repeats its question. A single name may be an answer."""
_NUMBER = re.compile(r"(\w+)?[^\w\s]*\s*\b(\d+(?:[.,:/-]\d+)*)")
_DENIALS = frozenset(["not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot"])


def is_unresponsive(question: Question, answer: Verdict, statements: Sequence[Verdict]) -> bool:
    """Return whether an answer neither gives nor contradicts a reference, and is supported or repeats its question.

    answer: verdict on the entire answer by the references.
    statements: verdicts on its sentences by the evidence; empty without evidence.
    """
    if answer.label != "unverifiable" or answer.support is None or answer.support >= HALF:
        return False
    all_supported = bool(statements) and all(v.label == "supported" for v in statements)
    return all_supported or repeats_question(question, answer.claim.text)


def repeats_question(question: Question, answer: str) -> bool:
    """Return whether the answer has no content word or number beyond its question, and so claims nothing.

    Words about the answer and its sources ("the document mentions that") do not count. The result is False for an
    answer of one or two content words, for a question that names the answer (yes or no, "X or Y?"), and for an answer
    with a negation that the question lacks.
    """
    words = content_and_numbers(answer)
    question_words = content_and_numbers(question.text)
    named = any(content_words(reference) <= content_words(question.text) for reference in question.references)
    if len(words) < _FEWEST_WORDS or named or asks_yes_or_no(read_text(question.text).tokens):
        return False
    if not words <= question_words | SOURCE_WORDS or not _numbers(answer) <= _numbers(question.text):
        return False
    return not _denials(answer) - _denials(question.text)


def _numbers(text: str) -> frozenset[tuple[str, str]]:
    """Return the numbers, each with the word before it: "repaired 2024" does not repeat "repair in 2024"."""
    return frozenset((before.casefold(), number) for before, number in _NUMBER.findall(text))


def _denials(text: str) -> frozenset[str]:
    return _DENIALS & frozenset(text.lower().replace("n't", " not").split())
