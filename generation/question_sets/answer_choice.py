"""Select answers that suit an evaluation question, and list their accepted forms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from generation.english import words
from generation.english.tokens import Token
from generation.question_sets.candidate import QuestionKind
from generation.synthetic_questions.cloze import good_answer
from generation.synthetic_questions.spans import AnswerSpan
from model.english import word_set

_KIND: Final[dict[str, QuestionKind]] = {
    "date": "one_fact",
    "person": "one_fact",
    "place": "one_fact",
    "group": "one_fact",
    "name": "one_fact",
    "phrase": "one_fact",
    "number": "number",
    "measure": "number",
    "listed": "list",
}
_PLURALS: Final = word_set("people men women children police")
# Persons, for whom a question does not use "what".
_AGENTS: Final = word_set(
    "lead skipper manager director owner employee employees customer customers user users staff crew driver "
    "worker workers member members player players student students teacher teachers editor officer officers guest "
    "guests visitor visitors hero heroes leader leaders commander critic critics artist artists scientist scientists "
    "settlers soldiers troops citizens voters inhabitants residents"
)
_SPLIT: Final = re.compile(r", and |, | and ")


def question_kind(span: AnswerSpan) -> QuestionKind | None:
    """Return the kind of question that asks for the span; None for spans that only training questions ask for."""
    return _KIND.get(span.kind)


def is_usable_answer(tokens: Sequence[Token], span: AnswerSpan, answer: str, low_text: str, document: str) -> bool:
    """Return whether the answer is specific and complete, and occurs once in its paragraph.

    tokens: the sentence. low_text, document: the paragraph and the entire document in lower case.
    """
    if not good_answer(answer, low_text):
        return False
    head = tokens[span.end - 1]
    if span.kind == "phrase":
        content = [t for t in tokens[span.start : span.end] if t.tag in "JNX"]
        acting = any(t.low in _AGENTS or t.low in words.PERSON_NOUNS for t in content)
        acting = acting or head.low.endswith(("ists", "ians", "men", "women"))
        return (
            len(content) >= 2
            and not acting
            and head.low not in words.VAGUE
            and tokens[span.start].low not in words.VAGUE
        )
    if span.kind == "name":
        # A single word may name a person or a thing, and the question word depends on it.
        the = span.left + 1 == span.start and tokens[span.left].low == "the"
        return the and span.end - span.start > 1
    if span.kind == "place" and not span.ask:
        return len(re.findall(rf"\b(?:in|at|near|from|to) {re.escape(answer.lower())}\b", document)) > 1
    if span.ask == "country":
        first = tokens[span.start].low
        return span.end - span.start == 1 or first in ("united", "south", "north", "soviet", "saudi", "sri", "costa")
    if span.ask == "prize" and span.end < len(tokens):
        return tokens[span.end].low not in ("in", "for")
    if span.kind == "number":
        thing = tokens[span.right - 1].low
        return "." not in answer and len(thing) > 3 and (thing.endswith("s") or thing in _PLURALS)
    if span.kind == "listed":
        return len(_SPLIT.split(answer)) > 2 and not any(t.tag in "AV" for t in tokens[span.start : span.end])
    return True


def accepted_answers(answer: str, span: AnswerSpan, document: str) -> tuple[str, ...]:
    """Return the answer and its equivalent forms.

    document: the document in lower case. A surname is accepted if the document uses it without the first name.
    """
    found = [answer]
    if span.kind == "person" and len(answer.split()) == 2:
        first, last = answer.lower().split()
        if re.search(rf"(?<!{re.escape(first)} )\b{re.escape(last)}\b", document):
            found.append(answer.split()[-1])
    if span.kind == "listed":
        found.append(", ".join(part for part in _SPLIT.split(answer) if part))
    return tuple(dict.fromkeys(found))
