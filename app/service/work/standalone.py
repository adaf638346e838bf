"""Follow-up questions made to stand alone, so that they can be searched for: by rule, or by a model that writes.

The rule, for a model that cannot write: a pronoun is replaced by what the question before was about, the words from its
first determiner or name on, or, for a person after "Who ...?", by a short answer. A question that only names another
thing ("What about the Heron 5?") takes the question before, with that thing in place of the one that begins alike;
where none does, and for a question of a few words, both stand one after the other. Anything else is left alone. It
knows English only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

REWRITTEN_TOKENS = 64
_LAST = 3
"""Exchanges before the question that a model is shown."""
_SHOWN_CHARACTERS = 500
_PRONOUN = re.compile(
    r"\b(?P<owner>its|their|theirs|his|her|hers)\b|\b(?P<thing>it|they|them|he|she|him|these|those|"
    r"(?:this|that)(?=\s+(?:is|was|are|were|does|do|did|has|have|had|can|could|will|would|may|must|mean)\b|\s*[?.!]*$|\s+\w+\s*[?.!]*$))\b",
    re.IGNORECASE,
)
_OPENS = re.compile(r"(?:and|but|or|so|what about|how about|also)\b[\s,]*", re.IGNORECASE)
_TOPIC = re.compile(r"\b(?:the|a|an|our|my|your|this|that|these|those)\s+\S.*|(?<=\s)(?:[A-Z]|\d)\S*.*", re.DOTALL)
_ENDS = " \t\r\n?.!,;:"
_FEW_WORDS = 3
_PERSONS = frozenset(("he", "she", "him", "his", "her", "hers", "they", "them", "their", "theirs"))
_SMALL = frozenset(("the", "a", "an", "our", "my", "your", "this", "that", "these", "those", "of", "in", "for", "to"))
_CITATION = re.compile(r"\s*\[\d+\]")
_LABEL = re.compile(r"^\s*(?:(?:stand-?alone|rewritten|final)?\s*question\s*:)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and what was answered; the answer may be empty."""

    question: str
    answer: str


def standalone_by_rule(question: str, history: Sequence[Exchange]) -> str:
    """The question with what it refers to put in; itself where it seems to stand alone, or there is nothing before."""
    before, answer = "", ""
    for exchange in history:
        before, answer = _joined(exchange.question, before, answer), exchange.answer
    return _joined(question, before, answer)


def rewriting_task(question: str, history: Sequence[Exchange]) -> str:
    """What a model is told to write: the last question, so that it can be understood by itself."""
    said = "\n".join(
        f"User: {exchange.question[:_SHOWN_CHARACTERS]}\nAssistant: {exchange.answer[:_SHOWN_CHARACTERS]}"
        for exchange in history[-_LAST:]
    )
    return (
        "Rewrite the last question of this conversation as one question that can be understood without it. Do not "
        f"answer it; write the question only.\n\n{said}\nUser: {question}\n\nStandalone question:"
    )


def read_rewritten(text: str) -> str:
    """The question that a model wrote; empty where it wrote none."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line), "")
    found = _LABEL.sub("", first).strip().strip("\"'").strip()
    return found if any(c.isalnum() for c in found) else ""


def _joined(question: str, before: str, answer: str) -> str:
    """answer: to the question before."""
    if not before:
        return question
    found = _PRONOUN.search(question)
    person = found is not None and found[0].lower() in _PERSONS and before.lower().startswith("who")
    topic = (_short(answer) if person else "") or _topic(before)
    if found is not None and topic:
        put = f"{topic}'s" if found["owner"] else topic
        return question[: found.start()] + put + question[found.end() :]
    opened = _OPENS.match(question)
    if opened is not None or len(question.split()) <= _FEW_WORDS:
        rest = question[opened.end() :].strip() if opened is not None else question.strip()
        if not rest.strip(_ENDS):
            return before
        exchanged = _exchanged(before, rest.strip(_ENDS)) if opened is not None else ""
        return exchanged or f"{before.strip()} {rest}"
    return question


def _exchanged(before: str, thing: str) -> str:
    """The question before with ``thing`` in place of the words that begin as it does; empty where none do."""
    wanted, words = thing.split(), before.split()
    for common in range(len(wanted) - 1, 0, -1):
        if all(word.lower() in _SMALL for word in wanted[:common]):
            break
        for start in range(len(words) - common, -1, -1):
            if [w.lower().strip(_ENDS) for w in words[start : start + common]] == [w.lower() for w in wanted[:common]]:
                end = min(start + len(wanted), len(words))
                mark = "?" if words[end - 1].endswith("?") else ""
                return " ".join([*words[:start], thing + mark, *words[end:]])
    return ""


def _short(answer: str) -> str:
    """The answer where it is a name or so; empty for a longer one."""
    said = _CITATION.sub("", answer).strip(_ENDS)
    return said if 0 < len(said.split()) <= _FEW_WORDS + 1 else ""


def _topic(question: str) -> str:
    """What a question is about: from its first determiner or name to its end; empty where it has neither."""
    found = _TOPIC.search(question)
    return found[0].strip(_ENDS) if found is not None else ""
