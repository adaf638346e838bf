"""Build a full sentence from a question and its short answer, by rules.

The rules add no words except a preposition before a date or place. If no rule applies reliably, the result is a generic
sentence such as ``The answer is "1902".``
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from generation.english.verbs import BASES, PARTICIPLES, PAST, THIRD, base_of_past, past_of, third_of
from generation.english.words import ADVERBS, BE, DETERMINERS, MODALS, PREPOSITIONS, SUBORDINATORS
from model.english import MONTHS

_MAX_QUESTION: Final = 30
_MAX_ANSWER: Final = 25
_HAVE: Final = frozenset(("has", "have", "had"))
_DO: Final = frozenset(("do", "does", "did"))
_AUXILIARIES: Final = frozenset((*BE, *_HAVE, *_DO, *MODALS))
_REFUSAL: Final = re.compile(
    r"(?i)\s*(?:i (?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t)\b|sorry\b|unknown\b|not stated\b|"
    r"no answer\b|"
    r"(?:the|these) (?:passages?|documents?|texts?) (?:does|do) not\b|there is no (?:answer|information)\b)"
)
_SEVERAL: Final = re.compile(r"[?!;\n]|\b(?:[a-z]\w*|[A-Z]\w{3,}|\d+)\.(?:\s|$)")
_THE: Final = re.compile(r"(?:United|Netherlands|Philippines|Soviet|Bahamas|Czech|Dominican|Republic|Kingdom)\b")
_YEAR: Final = re.compile(r"(?i)(?:the )?(?:early |late |mid-)?(?:[a-z]+ )?\d{3,4}s?(?: (?:BCE?|AD|CE))?$")
_CENTURY: Final = re.compile(
    r"(?i)(?:the )?(?:early |late |mid-)?(?:\d{1,2}(?:st|nd|rd|th)|[a-z]+th) century(?: (?:BCE?|AD|CE))?$"
)
_DAY: Final = re.compile(
    r"(?:\w+day,? )?(?:\d{1,2}(?:st|nd|rd|th)? [A-Z][a-z]+|[A-Z][a-z]+ \d{1,2}(?:st|nd|rd|th)?)(?:,? \d{3,4})?$"
)
_NUMBER: Final = re.compile(
    r"(?i)(?:about |around |over |nearly |more than |less than |fewer than |at least |up to |approximately |some )?"
    r"(?:[\d.,]+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|"
    r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?)(?: (?:hundred|thousand|million|billion))*$"
)
_SIZES: Final = frozenset(["tall", "high", "long", "old", "wide", "deep", "far", "large", "big", "heavy", "fast"])


@dataclass(frozen=True, slots=True)
class _Clause:
    """A question's clause in four parts, for example "was", "the tower", "built", ("of", "stone")."""

    auxiliary: str
    subject: str
    verb: str
    rest: tuple[str, ...]

    def statement(self, middle: str = "", end: str = "") -> str:
        """Return the clause in declarative order, with ``middle`` after the verb and ``end`` at the end."""
        return " ".join(part for part in (self.subject, self._verb(), middle, *self.rest, end) if part)

    def _verb(self) -> str:
        if self.auxiliary == "did":
            return past_of(self.verb.lower())
        if self.auxiliary == "does":
            return third_of(self.verb.lower())
        return self.verb if self.auxiliary == "do" else f"{self.auxiliary} {self.verb}".strip()


def as_sentence(question: str, answer: str) -> str:
    """Return the answer as a full sentence: "When was X founded?" and "1902" give "X was founded in 1902."

    Answers that are sentences, refusals, empty or longer than 25 words are returned unchanged. If the question has no
    known English form, the result is ``The answer is "1902".`` Time is linear in the lengths.
    """
    short = answer.strip()
    if re.search(r"(?:\d|\b[a-z]\w+)\.$", short) and not _is_sentence(short):
        short = short[:-1]
    if not short or len(short.split()) > _MAX_ANSWER or _is_sentence(short):
        return answer
    text = question.strip()
    parts = tuple(text[:-1].split()) if text.endswith("?") else ()
    statement = None
    if 3 <= len(parts) <= _MAX_QUESTION and len(text) < 300 and not _SEVERAL.search(text[:-1].strip()):
        statement = _turned(parts, tuple(part.lower().rstrip(",") for part in parts), short)
    if statement is None:
        return f'The answer is "{short}".' if '"' not in short else f"The answer is: {short}."
    return _begun(statement) + ("" if statement.endswith((".", "!", "?")) else ".")


def _is_sentence(answer: str) -> bool:
    if _REFUSAL.match(answer):
        return True
    parts = answer.lower().rstrip(".!?").split()
    return (
        answer[-1] in ".!?" and len(parts) > 2 and any(p in _AUXILIARIES or p in PAST or p in THIRD for p in parts[1:])
    )


def _turned(parts: Sequence[str], low: Sequence[str], answer: str) -> str | None:
    """Return the question as a statement with the answer; None if no rule applies. low: ``parts`` in lower case."""
    wh = low[0]
    if wh in PREPOSITIONS and low[1] in ("what", "which", "whom"):
        return _fronted(parts, low, answer)
    if wh in ("what", "which") and low[1] == "year":
        return _end(_clause(parts[2:], low[2:]), _time(answer))
    if wh == "when":
        return _end(_clause(parts[1:], low[1:]), _time(answer))
    if wh == "where":
        stranded = low[-1] in PREPOSITIONS and answer.lower().split()[0] not in PREPOSITIONS
        return _end(_clause(parts[1:], low[1:]), answer if stranded else _place(answer))
    if wh == "why":
        reason = answer.lower().split()[0] in ("because", "to") or answer.lower().startswith(("due to", "in order to"))
        return _end(_clause(parts[1:], low[1:]), answer if reason else None)
    if wh == "how":
        return _how(parts, low, answer)
    if wh in ("who", "what", "which", "whom"):
        return _thing(parts, low, answer)
    return None


def _fronted(parts: Sequence[str], low: Sequence[str], answer: str) -> str | None:
    """Answer questions that start with a preposition: "In which city was X born?", "By whom was X written?"."""
    at = 2
    while at < len(low) and low[at] not in _AUXILIARIES and at < 5:
        at += 1
    if low[0] in ("in", "on", "at", "since", "during") and "year" in low[2:at]:
        return _end(_clause(parts[at:], low[at:]), _time(answer))
    begins = answer.lower().split()[0] in PREPOSITIONS
    return _end(_clause(parts[at:], low[at:]), answer if begins else f"{low[0]} {answer}")


def _how(parts: Sequence[str], low: Sequence[str], answer: str) -> str | None:
    if low[1] in ("many", "much"):
        return _how_many(parts, low, answer)
    if low[1] in _SIZES and low[2] in BE:
        clause = _clause(parts[2:], low[2:])
        if clause is None or clause.verb or answer.lower().endswith(low[1]):
            return None
        return f"{clause.subject} {clause.auxiliary} {answer} {low[1]}"
    begins = answer.lower().startswith(("by ", "with ", "through "))
    return _end(_clause(parts[1:], low[1:]), answer if begins else None)


def _how_many(parts: Sequence[str], low: Sequence[str], answer: str) -> str | None:
    at = 2
    while at < len(low) and low[at] not in _AUXILIARIES:
        at += 1
    noun = " ".join(parts[2:at])
    counted = answer if not noun or not _NUMBER.match(answer) else f"{answer} {noun}"
    if not re.search(r"\d", answer) and not _NUMBER.match(answer):
        return None
    if at == len(low):  # "How many people live in X?"
        verb = next((i for i in range(3, len(low)) if low[i] in BASES or base_of_past(low[i])), None)
        if verb is None or any(p in PREPOSITIONS for p in low[2:verb]) or not _NUMBER.match(answer):
            return None
        return " ".join([answer, *parts[2:]])
    if low[at] in BE and at + 1 < len(low) and low[at + 1] == "there":
        return " ".join(["There", low[at], counted, *parts[at + 2 :]])
    if low[at] in BE or low[at] in _HAVE or (low[at] in MODALS and not noun):
        participle = (
            low[at] in BE and at + 1 < len(low) and (low[at + 1] in PREPOSITIONS or _is_participle(low[at + 1]))
        )
        return " ".join([counted, *parts[at:]]) if participle and noun else None
    clause = _clause(parts[at:], low[at:])
    return clause.statement(middle=counted) if clause is not None and clause.verb else None


def _thing(parts: Sequence[str], low: Sequence[str], answer: str) -> str | None:
    """Answer "who", "what" and "which": "Who wrote X?", "What is the capital of X?", "Which company did X found?"."""
    second = low[1]
    named = answer.lower().split()[0] in ("the", "a", "an") or answer[:1].isupper() or low[0] == "who"
    if low[0] in ("what", "which") and second not in _AUXILIARIES and second not in PAST and second not in THIRD:
        at = 2
        while at < min(len(low), 5) and low[at] not in _AUXILIARIES and not base_of_past(low[at]):
            at += 1
        if at >= len(low) or any(p in PREPOSITIONS for p in low[1:at]):
            return None
        if low[at] in _DO:
            return _object(_clause(parts[at:], low[at:]), answer)
        clause = _clause(parts[at:], low[at:])
        if low[at] in _AUXILIARIES and clause is not None and low[at + 1] not in PARTICIPLES:
            return None  # "What river is X on?": the subject is ambiguous
        return " ".join([answer, *parts[at:]]) if named else None
    if second in _DO:
        return _object(_clause(parts[1:], low[1:]), answer)
    if second in BE:
        return _being(parts, low, answer)
    if second in _AUXILIARIES:
        return None
    verb = base_of_past(second) or THIRD.get(second)
    return " ".join([answer, *parts[1:]]) if verb and named else None


def _object(clause: _Clause | None, answer: str) -> str | None:
    if clause is None or not clause.verb:
        return None
    begins = clause.rest[0].lower() if clause.rest else ""
    if not clause.rest or (begins in PREPOSITIONS and begins != "to" and len(clause.rest) > 1):
        return clause.statement(middle=answer)
    return clause.statement(end=answer) if clause.rest[-1].lower() in PREPOSITIONS else None


def _being(parts: Sequence[str], low: Sequence[str], answer: str) -> str | None:
    """Answer questions with a form of "be": "What is the X of Y?", "Who was X written by?", "What is X called?"."""
    if _is_participle(low[2]) or low[2].endswith("ing") or low[2] in PREPOSITIONS:
        return (
            " ".join([answer, *parts[1:]]) if answer[:1].isupper() or answer.startswith(("the ", "a ", "an ")) else None
        )
    clause = _clause(parts[1:], low[1:])
    if clause is None:
        return None
    if clause.verb:
        last = clause.rest[-1].lower() if clause.rest else clause.verb.lower()
        names = clause.verb.lower() in ("called", "named") and not clause.rest
        return clause.statement(end=answer) if names or last in PREPOSITIONS or last == "as" else None
    if clause.subject.split()[0].lower() in DETERMINERS or "'s " in clause.subject:
        last = clause.subject.split()[-1].lower()
        return f"{clause.subject} {clause.auxiliary} {answer}" if last not in PREPOSITIONS else None
    with_article = answer.lower().split()[0] in ("the", "a", "an")
    return f"{clause.subject} {clause.auxiliary} {answer}" if with_article else None


def _clause(parts: Sequence[str], low: Sequence[str]) -> _Clause | None:
    """Parse a question's clause from its auxiliary on; None if subject and verb cannot be separated reliably."""
    if len(parts) < 2 or low[0] not in _AUXILIARIES or any(p in SUBORDINATORS - {"as", "since"} for p in low[1:]):
        return None
    auxiliary = low[0]
    verbs = [i for i in range(2, len(low)) if _may_be_verb(auxiliary, low, i)]
    if not verbs and auxiliary in BE:
        subject = tuple(parts[1:])
        return _Clause(auxiliary, " ".join(subject), "", ()) if len(subject) <= 12 else None
    if len(verbs) != 1:
        return None
    at = verbs[0]
    while at > 2 and (low[at - 1] in ADVERBS or low[at - 1].endswith("ly")) and parts[at - 1].islower():
        at -= 1
    verb = " ".join(parts[at : verbs[0] + 1])
    if at < verbs[0] and auxiliary in _DO:
        return None
    return _Clause(auxiliary, " ".join(parts[1:at]), verb, tuple(parts[verbs[0] + 1 :]))


def _may_be_verb(auxiliary: str, low: Sequence[str], at: int) -> bool:
    word, before = low[at], low[at - 1]
    if before in DETERMINERS or (before in PREPOSITIONS and before != "to") or before == "to":
        return False
    if auxiliary in _DO or auxiliary in MODALS:
        return word in BASES or (word == "be" and auxiliary in MODALS) or word == "have"
    return _is_participle(word)


def _is_participle(word: str) -> bool:
    return word in PARTICIPLES or (base_of_past(word) is not None and word.endswith("ed"))


def _end(clause: _Clause | None, end: str | None) -> str | None:
    if clause is None or end is None:
        return None
    begins = end.lower().split()[0] in PREPOSITIONS
    if clause.rest and clause.rest[-1].lower() in PREPOSITIONS and begins:
        return None  # "Where does it come from?" already has a preposition
    return clause.statement(end=end)


def _time(answer: str) -> str | None:
    first = answer.lower().split()[0]
    if first in PREPOSITIONS or first in ("when", "while", "before", "after"):
        return answer
    if _DAY.match(answer) and any(part.strip(",").lower() in MONTHS for part in answer.split()):
        return f"on {answer}"
    month = answer.split()[0].lower() in MONTHS
    if _CENTURY.match(answer) or (
        _YEAR.match(answer) and (month or answer.split()[0].strip("s").isdigit() or first in ("the", "early", "late"))
    ):
        decade = first != "the" and (answer.endswith("s") or "century" in answer.lower())
        return f"in the {answer}" if decade else f"in {answer}"
    return f"in {answer}" if month and len(answer.split()) == 1 else None


def _place(answer: str) -> str | None:
    if answer.lower().split()[0] in PREPOSITIONS:
        return answer
    if not answer[:1].isupper() or answer.lower().startswith(("a ", "an ")):
        return None
    return f"in the {answer}" if _THE.match(answer) else f"in {answer}"


def _begun(text: str) -> str:
    """Capitalise the first word, unless it has capitals inside ("eBay")."""
    first = text.split()[0]
    return text[:1].upper() + text[1:] if first.islower() else text
