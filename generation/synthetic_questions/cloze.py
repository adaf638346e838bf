"""Generate cloze questions: select an answer in a sentence, and convert its clause to a question."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from generation.english.tokens import Token
from generation.synthetic_questions.asking import question_for_answer
from generation.synthetic_questions.clauses import clause_of
from generation.synthetic_questions.noise import noisy_question, reworded
from generation.synthetic_questions.passages import Passage
from generation.synthetic_questions.spans import AnswerSpan
from model.english import word_set

# Sampling weights of the answer kinds that occur in the passages. Rare kinds such as reasons have a high weight, since
# nearly every sentence has nouns. The result is close to what people ask about encyclopedia paragraphs.
_WEIGHTS: Final = {
    "phrase": 0.1,
    "long": 0.07,
    "listed": 0.03,
    "date": 0.22,
    "number": 0.26,
    "measure": 0.26,
    "person": 0.34,
    "place": 0.18,
    "group": 0.22,
    "name": 0.15,
    "adjective": 0.03,
    "reason": 0.2,
    "purpose": 0.08,
    "manner": 0.14,
}
_SUBJECT_PRONOUNS: Final = word_set("it he she they")


@dataclass(frozen=True, slots=True)
class ClozeQuestion:
    """A question about a passage.

    answer: the answer as written in the passage. kind: kind of the answer, from spans.KINDS. sentence: index of the
    sentence that contains the answer.
    """

    question: str
    answer: str
    kind: str
    passage: Passage
    sentence: int


def cloze_questions(
    title: str, drawn: Sequence[Passage], most: int, noisy: float, changed: float, rng: random.Random
) -> Iterator[ClozeQuestion]:
    """Yield at most ``most`` questions with answer kinds balanced by weight, each generated on demand.

    title: title of the article. drawn: its passages. noisy: probability of an ungrammatical question form. changed:
    probability of replacing words by synonyms.
    """
    by_kind: dict[str, list[tuple[Passage, int, AnswerSpan]]] = {}
    for passage in drawn:
        for number, tokens in enumerate(passage.sentences):
            if 6 <= len(tokens) <= 60:
                for span in passage.answers[number]:
                    by_kind.setdefault(span.kind, []).append((passage, number, span))
    for candidates in by_kind.values():
        rng.shuffle(candidates)
    count = 0
    used: set[tuple[int, int]] = set()
    tries = 0
    while by_kind and count < most and tries < 12 * most:
        tries += 1
        kinds = list(by_kind)
        kind = rng.choices(kinds, [_WEIGHTS[k] for k in kinds])[0]
        passage, number, span = by_kind[kind].pop()
        if not by_kind[kind]:
            del by_kind[kind]
        if (id(passage), number) in used and rng.random() < 0.7:
            continue
        one = question_for(title, passage, number, span, noisy, rng)
        if one is not None:
            used.add((id(passage), number))
            if rng.random() < changed:
                one = ClozeQuestion(
                    _without_answer(reworded(one.question, rng), one), one.answer, one.kind, passage, number
                )
            count += 1
            yield one


def _without_answer(question: str, cloze: ClozeQuestion) -> str:
    return cloze.question if _contains_words(question.lower(), cloze.answer.lower()) else question


def question_for(
    title: str, passage: Passage, number: int, span: AnswerSpan, noisy: float, rng: random.Random
) -> ClozeQuestion | None:
    """Return a question for ``span`` in sentence ``number``; None if the answer or the question is unsuitable."""
    tokens = passage.sentences[number]
    answer = passage.text[tokens[span.start].start : tokens[span.end - 1].end]
    if not good_answer(answer, passage.low) or _cuts_quotation(passage, number, tokens[span.start].start, answer):
        return None
    clause = clause_of(tokens, span)
    question = None
    if clause is not None and rng.random() >= noisy:
        subject = _shown_subject(tokens, clause.subject, title, passage.low)
        question = question_for_answer(tokens, clause, span, subject, rng) if subject is not None else None
    elif rng.random() < noisy and any(token.tag in "AV" for token in tokens):
        first = clause.subject[0] if clause is not None and clause.subject[0] <= span.left else max(0, span.left - 7)
        last = clause.end if clause is not None else min(len(tokens), span.right + 7)
        question = noisy_question(tokens, first, max(last, span.right), span, rng)
    if question is None or not good_question(question, answer):
        return None
    return ClozeQuestion(question, answer, span.kind, passage, number)


def _cuts_quotation(passage: Passage, number: int, at: int, answer: str) -> bool:
    """Return whether the answer is only a part of a quotation, such as half a title."""
    before = passage.text[passage.spans[number][0] : at]
    inside = before.count('"') % 2 == 1 or before.count("“") > before.count("”")
    after = passage.text[at + len(answer) : at + len(answer) + 2]
    return inside and not (before[-1:] in '"“' and any(mark in after for mark in '"”'))


def good_answer(answer: str, passage: str) -> bool:
    """Return whether the answer is short, and occurs exactly once in the lower-case passage, as complete words."""
    low = answer.lower()
    if not 1 <= len(answer.split()) <= 10 or len(answer) > 70 or any(mark in answer for mark in '()[]\n;"'):
        return False
    return passage.count(low) == 1 and _contains_words(passage, low)


def good_question(question: str, answer: str) -> bool:
    """Return whether the question has 4 to 20 words, at least two content words, and does not contain the answer."""
    parts = question.rstrip("?").split()
    if not 4 <= len(parts) <= 20 or _contains_words(question.lower(), answer.lower()) or _INCOMPLETE.search(question):
        return False
    content = [part for part in parts[1:] if len(part) > 3 and part.lower() not in _NOT_CONTENT]
    return len(content) >= 2


# Matches an unresolved pronoun or an incomplete end.
_INCOMPLETE: Final = re.compile(
    r"\b(it|them|him|he|she|they|i|we|you|us|me)\b|\b(the|a|an|both|than|well as|such as|not|its|his|their)\?$|"
    r"\b(and|or|but)( \w{1,5})?\?$"
)
_NOT_CONTENT: Final = word_set(
    "what which when where does were have this that with from many much they their there been some such these those "
    "into also would could year kind type"
)


def _contains_words(text: str, part: str) -> bool:
    at = text.find(part)
    while at >= 0:
        end = at + len(part)
        if not (at and text[at - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return True
        at = text.find(part, at + 1)
    return False


def _shown_subject(
    tokens: Sequence[Token], subject: tuple[int, int], title: str, passage: str
) -> Sequence[Token] | None:
    """Return the subject's words, with the article's title in place of a pronoun; None for an unresolved pronoun."""
    shown = tokens[subject[0] : subject[1]]
    name = re.sub(r"\s*\(.*?\)", "", title)
    named = len(name.split()) < 5 and name.lower().split()[-1] in passage
    if len(shown) == 1 and shown[0].tag == "R":
        person = len(name.split()) > 1 and name.istitle() and "'" not in name
        if shown[0].low not in _SUBJECT_PRONOUNS or not named or (shown[0].low in ("he", "she") and not person):
            return None
        return (Token(name, name.lower(), "X", 0, 0),)
    if named and shown[0].low in ("its", "their"):
        return (Token(name, name.lower(), "X", 0, 0), Token("'s", "'s", "'", 0, 0), *shown[1:])
    return None if any(token.tag == "R" for token in shown) else shown
