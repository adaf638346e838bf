"""Generate questions about spans that recur in an article, from a sentence outside the answering passage.

The method follows Ram et al. 2021, "Few-Shot Question Answering by Pretraining Span Selection", section 3.1. Here, the
sentence of the other mention is converted to a question.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Final

from generation.english.tokens import Token
from generation.synthetic_questions.cloze import ClozeQuestion, good_answer, question_for
from generation.synthetic_questions.passages import Passage, SourceArticle
from generation.synthetic_questions.spans import AnswerSpan
from model.english import word_set

_KINDS: Final = frozenset(("person", "place", "group", "name", "phrase"))
_STOPS: Final = re.compile(r"(?<=[a-z0-9)\"”])[.!?](?=\s+[A-Z\"“])")
_WORDS: Final = re.compile(r"[^\W_]{4,}")
_EMPTY: Final = word_set(
    "what which where when whom does were that this with from have been they them their then than also many much more "
    "most other some such into only over"
)


def recurring_questions(
    article: SourceArticle, drawn: Sequence[Passage], most: int, rng: random.Random
) -> Iterator[ClozeQuestion]:
    """Yield at most ``most`` questions from sentences elsewhere in the article.

    Each shares a word with the sentence of the passage that contains the answer.
    """
    title = frozenset(stems(article.title))
    candidates = [
        (passage, number, tokens, span)
        for passage in drawn
        for number, tokens in enumerate(passage.sentences)
        for span in passage.answers[number]
        if span.kind in _KINDS and (span.kind != "phrase" or span.end - span.start > 1)
    ]
    rng.shuffle(candidates)
    count = 0
    for passage, number, tokens, span in candidates[: 12 * most]:
        if count == most:
            break
        answer = passage.text[tokens[span.start].start : tokens[span.end - 1].end]
        if not good_answer(answer, passage.low) or answer.lower() in article.title.lower():
            continue
        here = stems(passage.text[slice(*passage.spans[number])]) - stems(answer) - title
        for sentence in _elsewhere(article.text, answer, passage.text):
            question = _question(article.title, sentence, answer, rng)
            if question is not None and len(stems(question) & here) >= 1:
                count += 1
                yield ClozeQuestion(question, answer, span.kind, passage, number)
                break


def stems(text: str) -> frozenset[str]:
    """Return the words with at least four letters, without function words, each truncated to six letters."""
    return frozenset(word[:6] for word in _WORDS.findall(text.lower()) if word not in _EMPTY)


def _elsewhere(text: str, answer: str, passage: str) -> Iterator[str]:
    """Yield at most four sentences of ``text`` that contain ``answer`` and are not in ``passage``."""
    found, position = 0, -1
    while (position := text.find(answer, position + 1)) >= 0:
        line_start = text.rfind("\n", 0, position) + 1
        line_end = text.find("\n", position)
        line = text[line_start : len(text) if line_end < 0 else line_end]
        at = position - line_start
        cuts = [0, *(stop.end() for stop in _STOPS.finditer(line)), len(line)]
        start = max(cut for cut in cuts if cut <= at)
        sentence = line[start : min(cut for cut in cuts if cut > at)].strip()
        if 40 < len(sentence) < 350 and sentence not in passage:
            yield sentence
            found += 1
            if found == 4:
                return


def _question(title: str, sentence: str, answer: str, rng: random.Random) -> str | None:
    other = Passage(sentence, ((0, len(sentence)),))
    tokens = other.sentences[0]
    for span in other.answers[0]:
        if span.kind in _KINDS and _text(sentence, tokens, span) == answer:
            question = question_for(title, other, 0, span, 0.15, rng)
            if question is not None:
                return question.question
    return None


def _text(sentence: str, tokens: Sequence[Token], span: AnswerSpan) -> str:
    return sentence[tokens[span.start].start : tokens[span.end - 1].end]
