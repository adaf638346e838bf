"""Generation of questions from a sentence by reliable patterns, with answers of a few words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Literal

from evaluation.synthetic_claims.negation import base_form
from evaluation.synthetic_claims.shortening import lower_first_word

AnswerKind = Literal["person", "place", "year", "number"]

_SUBJECT = r"(?P<subject>(?:(?:The|the|A|An) )?(?:[\w’'.-]+ ){0,5}?[\w’'.-]+)"
_NAME = r"[A-ZÀ-Þ][\w’'-]+(?: (?:of |de |von |van )?[A-ZÀ-Þ][\w’'.-]+)*"
_YEAR = r"1[0-9]{3}|20[01][0-9]"
_VERBED = r"(?P<verb>[a-z]+(?:ed|en|wn|lt|de|ld|nt|rn|und|ade|ought|aught))"
_STOPS = r"(?=[.,;]| (?:by|and|when|with|after|but|as) )"
_YEAR_LAST = re.compile(
    rf"^{_SUBJECT} (?P<aux>was|were|is|are) (?P<middle>[^,;:()]{{4,90}}?) in (?P<answer>{_YEAR}){_STOPS}"
)
_YEAR_FIRST = re.compile(
    rf"^In (?P<answer>{_YEAR}), {_SUBJECT} (?P<aux>was|were) (?P<middle>[^,;:()]{{4,90}}?)(?:\.$|(?= and |,))"
)
_YEAR_VERB = re.compile(rf"^{_SUBJECT} (?P<past>[a-z]+) (?P<middle>[^,;:()]{{4,90}}?) in (?P<answer>{_YEAR}){_STOPS}")
_YEAR_VERB_FIRST = re.compile(
    rf"^In (?P<answer>{_YEAR}), {_SUBJECT} (?P<past>[a-z]+) (?P<middle>[^,;:()]{{4,90}}?)(?:\.$|(?= and |,))"
)
_PLACE_LAST = re.compile(
    rf"^{_SUBJECT} (?P<aux>was|were|is|are) (?P<middle>born|located|situated|held|buried|founded|raised|built|"
    rf"based|educated|"
    rf"signed|established|produced|filmed|published|killed)(?P<more>(?: on [^,;]{{4,20}})?) (?:in|at|near) "
    rf"(?P<answer>(?:the )?{_NAME})[,.]"
)
_BY_LAST = re.compile(
    rf"^{_SUBJECT} (?P<aux>was|were|is|are) {_VERBED} by (?P<answer>(?:the )?{_NAME})(?= in \d{{4}}\.|\.|,)"
)
_WHO_FIRST = re.compile(rf"^(?P<answer>{_NAME}) (?P<past>[a-z]+) (?P<middle>[^,;:()]{{10,90}}?)(?:\.$|(?= and |,))")
_HOW_MANY = re.compile(
    rf"^{_SUBJECT} (?P<past>has|had|have|contains|won|includes|published|wrote|produced|received|recorded|lost|sold) "
    r"(?P<answer>\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) (?P<noun>(?:[a-z-]+ "
    r"){0,2}[a-z]+s)\b(?P<more>[^,;:()]{0,60})[.,]"
)
_BAD_SUBJECT = re.compile(
    r"^(?:It|He|She|They|This|These|That|There|Those|In|On|At|By|For|One|Some|Many|Most|Such|As|While|When|If|"
    r"What|Other|"
    r"Another|Both|All|Each|No|Not|Although|Since|After|Before|To|With|From|Also|Who|Which|His|Her|Its|Their|"
    r"Early|Late)\b"
    r"|\b(?:that|which|who|whom|when|where|is|was|were|are|has|had|and|to|from|not|he|she|it|they)\b|[.]$"
)


@dataclass(frozen=True, slots=True)
class SyntheticQuestion:
    """A question, its answer as the sentence gives it, and the kind of the answer."""

    question: str
    answer: str
    kind: AnswerKind


def synthetic_question(sentence: str, chance: Random) -> SyntheticQuestion | None:
    """Return one question that the sentence answers, drawn from the matching patterns; None if no pattern matches."""
    found = list(_all(sentence))
    return chance.choice(found) if found else None


def answer_sentence(answer: str, kind: AnswerKind, chance: Random) -> str:
    """Return the answer in a natural form: alone, with a full stop, or in a short sentence."""
    forms = [answer, answer, answer, f"{answer}."]
    if kind == "year":
        forms += [f"In {answer}.", f"It was in {answer}.", f"in {answer}"]
    elif kind in ("person", "place"):
        forms += [f"It was {answer}.", f"The answer is {answer}."]
    else:
        forms += [f"The answer is {answer}.", f"There were {answer}."]
    return chance.choice(forms)


def _all(sentence: str) -> Iterator[SyntheticQuestion]:
    for pattern in (_YEAR_LAST, _YEAR_FIRST):
        if (m := _fit(pattern, sentence)) and not re.search(r"\b\d{4}\b| and (?:was|is|were|had|has)\b", m["middle"]):
            start = "In what year" if len(m["middle"]) % 2 else "When"
            yield SyntheticQuestion(f"{start} {m['aux']} {_inner(m)} {m['middle']}?", m["answer"], "year")
    for pattern in (_YEAR_VERB, _YEAR_VERB_FIRST):
        m = _fit(pattern, sentence)
        if m and (base := base_form(m["past"])) and not re.search(r"\b\d{4}\b| and ", m["middle"]):
            start = "In what year" if len(m["middle"]) % 2 else "When"
            yield SyntheticQuestion(f"{start} did {_inner(m)} {base} {m['middle']}?", m["answer"], "year")
    if m := _fit(_PLACE_LAST, sentence):
        yield SyntheticQuestion(f"Where {m['aux']} {_inner(m)} {m['middle']}?", m["answer"], "place")
    if m := _fit(_BY_LAST, sentence):
        yield SyntheticQuestion(f"Who {m['aux']} {_inner(m)} {m['verb']} by?", m["answer"], "person")
    m = _WHO_FIRST.match(sentence)
    if m and (base := base_form(m["past"])) and not m["past"].endswith("s"):
        yield SyntheticQuestion(f"Who {m['past']} {m['middle']}?", m["answer"], "person")
    if (m := _fit(_HOW_MANY, sentence)) and not m["noun"].split()[-1].endswith("ss"):
        past = m["past"]
        verb = base_form(past) or past
        done = "do" if past == "have" else "does" if past.endswith("s") else "did"
        more = re.sub(r" (?:and|but|or)\b.*$", "", m["more"])
        yield SyntheticQuestion(f"How many {m['noun']} {done} {_inner(m)} {verb}{more}?", m["answer"], "number")


def _fit(pattern: re.Pattern[str], sentence: str) -> re.Match[str] | None:
    match = pattern.match(sentence)
    return match if match is not None and not _BAD_SUBJECT.search(match["subject"]) else None


def _inner(match: re.Match[str]) -> str:
    return lower_first_word(match["subject"])
