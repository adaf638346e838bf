"""Find the clause that contains an answer (subject, verb and the rest) from tags and word order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from generation.english.tokens import Token
from generation.english.verbs import PARTICIPLES
from generation.synthetic_questions.spans import AnswerSpan

_MAX_SUBJECT: Final = 12
_HARD: Final = ";"


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause, as positions of tokens.

    subject: start and end of the subject. verb: the finite verb. end: position after the clause. intro: start and end
    of the words before the subject ("In 1902,"); equal if there are none.
    """

    subject: tuple[int, int]
    verb: int
    end: int
    intro: tuple[int, int]
    helper: int | None = None
    """The auxiliary of an earlier verb, if this verb shares it ("opened" in "was built and opened")."""


def clause_of(tokens: Sequence[Token], answer: AnswerSpan) -> Clause | None:
    """Return the clause around ``answer``; None if no verb and subject are found."""
    verb = _verb_for(tokens, answer)
    if verb is None:
        return None
    subject = _subject(tokens, verb, 0)
    if subject is None:
        return None
    intro = _intro(tokens, subject, verb)
    end = _end(tokens, max(verb + 1, answer.right if answer.left > verb else verb + 1))
    first = intro[0] if intro[0] < intro[1] else min(subject[0], verb)
    inside = first <= answer.left and answer.right <= end
    return Clause(subject, verb, end, intro, _helper(tokens, verb)) if inside else None


def _helper(tokens: Sequence[Token], verb: int) -> int | None:
    at = verb
    while at > 0 and tokens[at - 1].tag == "T":
        at -= 1
    if tokens[verb].tag != "V" or at == 0 or tokens[at - 1].tag not in "C," or tokens[verb].low not in PARTICIPLES:
        return None
    for index in range(at - 1, -1, -1):
        if tokens[index].tag in ";S" or tokens[index].tag == "V":
            return None
        if tokens[index].tag == "A":
            following = next((token for token in tokens[index + 1 : at] if token.tag != "T"), None)
            return index if following is not None and following.tag == "B" else None
    return None


def _finite(tokens: Sequence[Token], at: int) -> bool:
    return tokens[at].tag in "AV"


def _verb_for(tokens: Sequence[Token], answer: AnswerSpan) -> int | None:
    """Return the last finite verb before the answer without a break between them, otherwise the first one after it."""
    for index in range(answer.left - 1, -1, -1):
        if tokens[index].tag == _HARD or tokens[index].tag == "S":
            break
        if _finite(tokens, index) and not _reduced(tokens, index):
            crossed = any(token.tag == "," for token in tokens[index : answer.left])
            after = _verb_after(tokens, answer, ",;SC") if crossed else None
            return _main_verb(tokens, index) if after is None else after
    return _verb_after(tokens, answer, ";S")


def _verb_after(tokens: Sequence[Token], answer: AnswerSpan, breaks: str) -> int | None:
    for index in range(answer.right, min(len(tokens), answer.right + 16)):
        if tokens[index].tag in breaks:
            return None
        if _finite(tokens, index) and not _reduced(tokens, index):
            return index
    return None


def _main_verb(tokens: Sequence[Token], at: int) -> int:
    """Return the earlier finite verb if the verb at ``at`` is a participle after it; otherwise ``at``."""
    if tokens[at].tag != "V":
        return at
    for index in range(at - 1, -1, -1):
        if tokens[index].tag in ",;SC":
            return at
        if _finite(tokens, index):
            return index
    return at


def _reduced(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a verb form is a participle after its noun ("the book written by X was ...")."""
    if (
        tokens[at].tag != "V"
        or not (tokens[at].low.endswith("ed") or tokens[at].low in PARTICIPLES)
        or at + 1 >= len(tokens)
    ):
        return False
    if tokens[at + 1].low == "by" or (tokens[at + 1].tag == "P" and tokens[at - 1].tag == "N"):
        for index in range(at + 1, len(tokens)):
            if tokens[index].tag in ",;SC":
                return tokens[at + 1].low == "by" and tokens[index].tag != "C"
            if _finite(tokens, index):
                return True
        return tokens[at + 1].low == "by" and any(_finite(tokens, i) for i in range(at))
    return False


def _subject(tokens: Sequence[Token], verb: int, depth: int) -> tuple[int, int] | None:
    end = verb
    while end > 0 and tokens[end - 1].tag == "T":
        end -= 1
    if end == 0 or depth > 2:
        return None
    before = tokens[end - 1]
    if before.low in ("who", "which", "that"):
        end -= 1
        while end > 0 and tokens[end - 1].tag in ",P":
            end -= 1
        return _noun_phrase_ending(tokens, end)
    if before.tag == "C" or (before.tag == "," and end > 1 and tokens[end - 2].tag == "C"):
        for index in range(end - 2, -1, -1):
            if tokens[index].tag == _HARD:
                return None
            if _finite(tokens, index) and not _reduced(tokens, index):
                return _subject(tokens, index, depth + 1)
        return None
    start = end
    while start > 0 and tokens[start - 1].tag not in ",;SAV" and end - start < _MAX_SUBJECT:
        if tokens[start - 1].tag == "C" and not _listed(tokens, start - 1, end):
            break
        start -= 1
    if start == end:  # the subject is before an apposition: "X, a British physicist, founded"
        return _before_apposition(tokens, end)
    if (
        start < end
        and tokens[start].tag == "C"
        and start > 1
        and tokens[start - 1].tag == ","
        and not _finite_before(tokens, start)
    ):
        return None  # the end of a list, not a subject
    while start < end and tokens[start].tag in "CT":
        start += 1
    if tokens[start].tag == "P" or start == end:
        return _inverted_intro(tokens, start, end)
    return (start, end) if _is_subject(tokens, start, end) else None


def _finite_before(tokens: Sequence[Token], at: int) -> bool:
    for index in range(at - 1, -1, -1):
        if tokens[index].tag == _HARD:
            return False
        if _finite(tokens, index):
            return True
    return False


def _listed(tokens: Sequence[Token], conjunction: int, end: int) -> bool:
    """Return whether a conjunction joins two parts of the subject, and not two clauses."""
    left = conjunction - 1
    while left >= 0 and tokens[left].tag not in ",;SC":
        if _finite(tokens, left):
            return False
        left -= 1
    return tokens[conjunction].low in ("and", "or") and conjunction > 0 and end - conjunction > 1


def _inverted_intro(tokens: Sequence[Token], start: int, end: int) -> tuple[int, int] | None:
    """Return the subject after an introduction without a comma: "In 1902 the company ..."; None if there is none."""
    for index in range(start + 1, end):
        if (tokens[index - 1].tag in "#" or tokens[index - 1].low in ("time", "century")) and tokens[
            index
        ].tag in "DXRN":
            return (index, end) if _is_subject(tokens, index, end) else None
    return None


def _before_apposition(tokens: Sequence[Token], end: int) -> tuple[int, int] | None:
    index = end - 2
    while index > 0 and tokens[index].tag not in ",;" and not _finite(tokens, index):
        index -= 1
    if index <= 0 or tokens[index].tag != ",":
        return None
    return _noun_phrase_ending(tokens, index)


def _noun_phrase_ending(tokens: Sequence[Token], end: int) -> tuple[int, int] | None:
    start = end
    while start > 0 and tokens[start - 1].tag in "XNJ#'" and end - start < 6:
        start -= 1
    if start > 0 and start < end and tokens[start - 1].tag == "D":
        start -= 1
    return (start, end) if start < end and _is_subject(tokens, start, end) else None


def _is_subject(tokens: Sequence[Token], start: int, end: int) -> bool:
    tags = [token.tag for token in tokens[start:end]]
    if start and tokens[start - 1].low in ("than", "as"):
        return False
    return 0 < len(tags) <= _MAX_SUBJECT and any(tag in "NXR#G" for tag in tags) and tags[-1] in "NXRG#J"


def _intro(tokens: Sequence[Token], subject: tuple[int, int], verb: int) -> tuple[int, int]:
    end = subject[0]
    if end > verb or end == 0:
        return (subject[0], subject[0])
    stop = end - 1 if tokens[end - 1].tag == "," else end
    start = stop
    while start > 0 and tokens[start - 1].tag not in ",;SAVC" and stop - start < 9:
        start -= 1
    if start < stop and tokens[start].tag == "P":
        return (start, stop)
    return (subject[0], subject[0])


def _end(tokens: Sequence[Token], at: int) -> int:
    """Return the first position at or after ``at`` where the clause can end."""
    for index in range(at, len(tokens)):
        token = tokens[index]
        after = tokens[index + 1].tag if index + 1 < len(tokens) else "."
        if token.tag in ";S" or (token.tag == "V" and index > at) or token.low == "but":
            return index
        if token.tag == ",":
            return index
        if token.tag == "C" and after in "VATDRCS":
            return index
    return len(tokens)
