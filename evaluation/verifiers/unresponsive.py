"""Whether an answer that no reference supports says nothing false: it repeats its question, or other true things."""

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
"""Content words of an answer that repeats its question. A name alone answers, even one that the question holds."""
_NUMBER = re.compile(r"(\w+)?[^\w\s]*\s*\b(\d+(?:[.,:/-]\d+)*)")
_DENIALS = frozenset(["not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot"])


def is_unresponsive(question: Question, answer: Verdict, statements: Sequence[Verdict]) -> bool:
    """Whether the answer gives no reference and contradicts none, and all that it says is borne out or said already.

    answer: the references' verdict on the whole answer. statements: the evidence's verdicts on its sentences, none
    where there is no evidence.
    """
    if answer.label != "unverifiable" or answer.support is None or answer.support >= HALF:
        return False
    borne_out = bool(statements) and all(v.label == "supported" for v in statements)
    return borne_out or repeats_question(question, answer.claim.text)


def repeats_question(question: Question, answer: str) -> bool:
    """Whether the answer has no content word or number that its question lacks, and so claims nothing.

    Words that speak of the answer and its sources ("the document mentions that") count for nothing. False for an answer
    of one or two content words, where the question itself names the answer (yes or no, "X or Y?") and where the answer
    denies something that the question does not.
    """
    said = content_and_numbers(answer)
    asked = content_and_numbers(question.text)
    named = any(content_words(reference) <= content_words(question.text) for reference in question.references)
    if len(said) < _FEWEST_WORDS or named or asks_yes_or_no(read_text(question.text).tokens):
        return False
    if not said <= asked | SOURCE_WORDS or not _numbers(answer) <= _numbers(question.text):
        return False
    return not _denials(answer) - _denials(question.text)


def _numbers(text: str) -> frozenset[tuple[str, str]]:
    """Numbers, each with the word before it: "repaired 2024" does not repeat "repair in 2024"."""
    return frozenset((before.casefold(), number) for before, number in _NUMBER.findall(text))


def _denials(text: str) -> frozenset[str]:
    return _DENIALS & frozenset(text.lower().replace("n't", " not").split())
