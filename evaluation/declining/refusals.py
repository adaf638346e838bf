"""Whether an answer declines to answer, for any generator and in the languages that most people write.

An answer declines by what it says of the documents or of what the speaker knows, never by a negative statement about
the world. A refusal with an answer behind it is an answer. One with passages repeated behind it still declines.
"""

from __future__ import annotations

import re

from evaluation.declining.clauses import declines_elsewhere
from evaluation.declining.echoes import before_echo
from evaluation.declining.english import declines_in_english

_NULL = frozenset({"none", "null", "nil", "nan", "na", "undefined", "-", "--", "?", "none."})
_NAMES = frozenset({"Nan", "Na"})
"""As nobody writes a missing value: a person's name and the symbol of sodium."""
_COUNTS = re.compile(
    r"\b(?:which|how (?:many|much)|any|is there|are there|what (?:if any|exceptions|other))\b", re.IGNORECASE
)


def is_refusal(text: str, question: str = "") -> bool:
    """Whether a whole answer declines and claims nothing. False for an empty text: it does not even decline.

    question: what was asked. "None" in place of a value declines; to "Which of these?" or "How many?" it answers.
    """
    said = before_echo(text)
    bare = said.strip(" \t\r\n.\"'*_`")
    if bare.casefold() in _NULL and bare not in _NAMES:
        return bool(question.strip()) and not _COUNTS.search(question)
    return declines_in_english(said) or declines_elsewhere(said)
