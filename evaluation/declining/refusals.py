"""Detection of answers that decline to answer, for any generator and in the most widely written languages.

An answer declines by what it says about the documents or the speaker's knowledge, never by a negative statement about
the world. A refusal followed by an answer is an answer. A refusal followed by repeated passages is still a refusal.
"""

from __future__ import annotations

import re

from evaluation.declining.clauses import declines_in_other_language
from evaluation.declining.echoes import text_before_repeat
from evaluation.declining.english import declines_in_english

_NULL_VALUES = frozenset({"none", "null", "nil", "nan", "na", "undefined", "-", "--", "?", "none."})
_NOT_NULL = frozenset({"Nan", "Na"})
"""Spellings that are not null values: a given name (Nan) and the symbol of sodium (Na)."""
_COUNTS = re.compile(
    r"\b(?:which|how (?:many|much)|any|is there|are there|what (?:if any|exceptions|other))\b", re.IGNORECASE
)


def is_refusal(text: str, question: str = "") -> bool:
    """Return whether a complete answer declines and claims nothing. False for an empty text.

    question: question that was asked. "None" is an answer to "Which of these?" or "How many?", but a refusal if the
    question asks for a value.
    """
    answer = text_before_repeat(text)
    bare = answer.strip(" \t\r\n.\"'*_`")
    if bare.casefold() in _NULL_VALUES and bare not in _NOT_NULL:
        return bool(question.strip()) and not _COUNTS.search(question)
    return declines_in_english(answer) or declines_in_other_language(answer)
