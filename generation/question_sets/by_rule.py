"""Generate questions about single sentences of a document, by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from generation.english.tokens import Token
from generation.english.verbs import PAST
from generation.question_sets.answer_choice import accepted_answers, is_usable_answer, question_kind
from generation.question_sets.candidate import AnswerLocation, Candidate, SourceText
from generation.question_sets.plain_clause import plain_clause
from generation.question_sets.prose import Prose, prose
from generation.question_sets.wording import FixedRandom, capitalised_words, polish
from generation.synthetic_questions.asking import question_for_answer
from generation.synthetic_questions.clauses import Clause
from generation.synthetic_questions.cloze import good_question
from generation.synthetic_questions.passages import Passage
from generation.synthetic_questions.spans import AnswerSpan

_TOKEN_END: Final = re.compile(r"[\s,.;!?]|$")
_YEAR: Final = re.compile(r"\d{3}|centur")
_DATED: Final = re.compile(
    r"\b1\d{3}\b|\b20\d\d\b|\b(?:January|February|March|April|June|July|August|September|October)\b"
)
_FIXED: Final = FixedRandom()


def candidate_questions(source: SourceText) -> Iterator[Candidate]:
    """Yield every question that the rules generate about one sentence, in text order. The result is deterministic."""
    names, low = capitalised_words(source.text), source.text.lower()
    for paragraph in prose(source.text):
        passage = paragraph.passage
        for number, tokens in enumerate(passage.sentences):
            for span in passage.answers[number]:
                candidate = _candidate(source, paragraph, number, tokens, span, names, low)
                if candidate is not None:
                    yield candidate


def _candidate(
    source: SourceText,
    paragraph: Prose,
    number: int,
    tokens: Sequence[Token],
    span: AnswerSpan,
    names: Mapping[str, str],
    document: str,
) -> Candidate | None:
    kind, passage = question_kind(span), paragraph.passage
    if kind is None:
        return None
    start, end = tokens[span.start].start, tokens[span.end - 1].end
    answer = passage.text[start:end]
    if not is_usable_answer(tokens, span, answer, passage.low, document) or _in_quotation(passage, number, start):
        return None
    clause = plain_clause(tokens, span)
    if clause is None:
        return None
    shown_end = tokens[clause.end - 1].end
    if not _TOKEN_END.match(passage.text, shown_end):
        return None
    subject = _subject(tokens, clause, document_name(source.title), _before(passage, number))
    question = question_for_answer(tokens, clause, span, subject, _FIXED) if subject is not None else None
    text = polish(question, dict(names)) if question is not None else None
    if text is None or not good_question(text, answer) or (span.kind == "date" and _DATED.search(text)):
        return None
    past = tokens[clause.verb].low in PAST or tokens[clause.verb].low in ("was", "were", "had")
    if span.kind == "date" and past and not _YEAR.search(answer):
        return None  # the date of an event is incomplete without its year
    first, last = passage.spans[number]
    offset = paragraph.start
    answer_span = AnswerLocation(
        source.document_id, offset + start, offset + end, offset + first, offset + last, answer
    )
    is_subject = (span.left, span.right) == clause.subject
    rest = text.split(" ", 1)[1].rstrip("?") if is_subject and text.startswith(("Who ", "What ")) else ""
    return Candidate(text, kind, accepted_answers(answer, span, document), (answer_span,), span.kind, rest)


def _in_quotation(passage: Passage, number: int, at: int) -> bool:
    before = passage.text[passage.spans[number][0] : at]
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”")


def _subject(tokens: Sequence[Token], clause: Clause, name: str, before: str) -> Sequence[Token] | None:
    """Return the subject's words, with the document's name in place of a pronoun; None for an unresolved pronoun.

    name: name of the document's subject; "" if unknown. before: the previous sentence, which must contain the name.
    """
    shown = tokens[clause.subject[0] : clause.subject[1]]
    if not any(token.tag == "R" or token.low in ("its", "his", "her", "their") for token in shown):
        return shown
    person = len(name.split()) in (2, 3) and name.istitle() and "'" not in name and not name.startswith("The ")
    if not name or name.split()[-1] not in before[:80]:
        return None
    replaced = Token(name, name.lower(), "X", 0, 0)
    first = shown[0].low
    if len(shown) == 1 and first == "it" and not person:
        return (replaced,)
    if len(shown) == 1 and first in ("he", "she") and person:
        return (replaced,)
    return None


def _before(passage: Passage, number: int) -> str:
    return passage.text[slice(*passage.spans[number - 1])] if number else ""


def document_name(title: str) -> str:
    """Return the title without text in brackets if it is a short name; else ""."""
    name = re.sub(r"\s*\(.*?\)", "", title).strip()
    words = name.split()
    plain = 0 < len(words) < 5 and not re.search(r"[:;,.?!/\\]", name)
    return (
        name if plain and all(w[:1].isupper() or w in ("of", "the", "and", "de", "van", "von") for w in words) else ""
    )
