"""Derive unanswerable questions from answerable ones.

There are three ways: pair the question with a passage of the same article without the answer, remove the answering
sentence, or change a word of the question so that it asks for something that the passage does not say (as in SQuAD 2.0,
Rajpurkar et al. 2018, table 1: negation, antonym, entity swap).
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from generation.synthetic_questions.cloze import ClozeQuestion
from generation.synthetic_questions.passages import Passage
from generation.synthetic_questions.recurring import stems

_OPPOSITES: Final = (
    "first last,largest smallest,highest lowest,biggest smallest,increase decrease,increased decreased,before after,"
    "northern southern,eastern western,north south,east west,born buried,win lose,won lost,begin end,began ended,"
    "founded dissolved,found dissolve,established abolished,establish abolish,early late,most least,above below,"
    "male female,buy sell,open close,opened closed,build demolish,built demolished,arrive leave,accept reject,"
    "accepted rejected,longest shortest,oldest newest,older younger,greater smaller,higher lower,larger smaller,"
    "support oppose,supported opposed,appointed dismissed,appoint dismiss,maximum minimum,positive negative,"
    "ancient modern,public private,major minor,rich poor,young old,success failure,father mother,brother sister,"
    "king queen,son daughter,husband wife,winter summer,victory defeat,married divorced,marry divorce,join leave,"
    "joined left,more fewer,old new,gain lose,gained lost,lead follow,led followed,allow forbid,allowed forbidden,"
    "rise fall,rose fell,strong weak,urban rural,domestic foreign,internal external,ally enemy,attack defend,"
    "create destroy,created destroyed,start finish,started finished,enter leave,entered left,adopt reject,left right"
)
_ANTONYMS: Final = {a: b for pair in _OPPOSITES.split(",") for a, b in (pair.split(), pair.split()[::-1])}
_NAME: Final = re.compile(r"(?<=[a-z,'] )[A-Z][\w.’-]+(?: (?:of )?[A-Z][\w.’-]+)*")
_YEAR: Final = re.compile(r"\b1\d{3}\b|\b20\d\d\b")
_NUMBER: Final = re.compile(r"\b\d{1,3}(?:,\d{3})*\b")
_WORD: Final = re.compile(r"[a-z]+")
_AUXILIARY: Final = re.compile(r"(?<= )(did|does|do|was|were|is|are|has|have|had|can|could|would)(?= )")
_NEGATED: Final = {"can": "cannot", "do": "don't"}


@dataclass(frozen=True, slots=True)
class UnanswerableQuestion:
    """A question and a context that does not answer it."""

    question: str
    context: str


def unanswerable(cloze: ClozeQuestion, drawn: Sequence[Passage], rng: random.Random) -> UnanswerableQuestion | None:
    """Return an unanswerable version of a question; None if the answer may still be in the context."""
    low = cloze.answer.lower()
    draw = rng.random()
    if draw < 0.4:
        changed = perturbed(cloze.question, cloze.passage, drawn, rng)
        if changed is not None:
            return UnanswerableQuestion(changed, cloze.passage.text)
    if draw < 0.7:
        other = _nearest(cloze, [p for p in drawn if p is not cloze.passage and low not in p.low])
        if other is not None:
            return UnanswerableQuestion(cloze.question, other.text)
    rest = cloze.passage.without(cloze.sentence)
    return UnanswerableQuestion(cloze.question, rest) if low not in rest.lower() and len(rest) > 150 else None


def _nearest(cloze: ClozeQuestion, others: Sequence[Passage]) -> Passage | None:
    """Return the passage that shares most words with the question; None if all share none."""
    question_stems = stems(cloze.question)
    ranked = sorted(others, key=lambda passage: -len(question_stems & stems(passage.text)))
    return ranked[0] if ranked and question_stems & stems(ranked[0].text) else None


def perturbed(question: str, passage: Passage, drawn: Sequence[Passage], rng: random.Random) -> str | None:
    """Return the question with another name, year or number, an antonym, or a negation; None if no change applies."""
    changes = [_other_name, _other_year, _other_number, _opposite, _opposite, _negated]
    rng.shuffle(changes)
    for change in changes:
        changed = change(question, passage, drawn, rng)
        if changed is not None and changed != question:
            return changed
    return None


def _other_name(question: str, passage: Passage, drawn: Sequence[Passage], rng: random.Random) -> str | None:
    names = list(_NAME.finditer(question))
    if not names:
        return None
    match = rng.choice(names)
    size = len(match.group().split())
    found = sorted({m.group() for p in drawn for m in _NAME.finditer(p.text)})
    fitting = [
        name for name in found if len(name.split()) == size and name not in question and match.group() not in name
    ]
    absent = [name for name in fitting if name not in passage.text]
    pool = absent or fitting
    return question[: match.start()] + rng.choice(pool) + question[match.end() :] if pool else None


def _other_year(question: str, passage: Passage, drawn: Sequence[Passage], rng: random.Random) -> str | None:
    match = _YEAR.search(question)
    if match is None:
        return None
    years = [str(int(match.group()) + step) for step in (-50, -10, -3, -1, 1, 2, 5, 10, 40)]
    pool = [year for year in years if year not in passage.text]
    return question[: match.start()] + rng.choice(pool) + question[match.end() :] if pool else None


def _other_number(question: str, passage: Passage, drawn: Sequence[Passage], rng: random.Random) -> str | None:
    match = _NUMBER.search(question)
    if match is None:
        return None
    value = int(match.group().replace(",", ""))
    other = f"{max(2, value * rng.choice((2, 3, 10)) + rng.randint(1, 5)):,}"
    return question[: match.start()] + other + question[match.end() :] if other not in passage.text else None


def _opposite(question: str, passage: Passage, drawn: Sequence[Passage], rng: random.Random) -> str | None:
    found = [match for match in _WORD.finditer(question) if match.group() in _ANTONYMS]
    if not found:
        return None
    match = rng.choice(found)
    return question[: match.start()] + _ANTONYMS[match.group()] + question[match.end() :]


def _negated(question: str, passage: Passage, drawn: Sequence[Passage], rng: random.Random) -> str | None:
    match = _AUXILIARY.search(question)
    if match is None or " not " in question or rng.random() < 0.7:
        return None
    word = match.group()
    negative = _NEGATED.get(word, word + "n't")
    return question[: match.start()] + negative + question[match.end() :]
