"""Rule-based check of whether the words of a question occur around a short answer in its evidence. English.

A short answer that occurs in a passage looks supported to a small encoder, whatever the question was. The
sliding-window baseline of Richardson et al. 2013 ("MCTest", algorithm 1) scores answers by the words of question and
answer that are near each other; here the window is the answer's sentence and its two neighbours.
"""

from __future__ import annotations

import re
from functools import lru_cache

from model.verifier.content_words import content_words, word_count

MOST_WORDS = 8
"""A longer claim repeats enough of its question to be judged on its own."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_KEPT = 256


def is_short(claim: str) -> bool:
    """Whether the claim has at most ``MOST_WORDS`` words."""
    return word_count(claim, MOST_WORDS + 1) <= MOST_WORDS


def is_short_answer_claim(question: str, claim: str) -> bool:
    """Whether a claim is a short answer to a question, so that its context in the evidence is checked."""
    return bool(question.strip()) and is_short(claim)


def context_score(question: str, answer: str, evidence: str) -> float:
    """Score in [0, 1] of the best evidence sentence.

    It is the share of the answer's words in the sentence, times the share of the question's words in it and its
    neighbours. Words are compared by prefix, without stop words. An answer of stop words alone ("yes") occurs
    everywhere. 1 for a question without words.
    """
    question_words, answer_words = content_words(question), content_words(answer)
    if not question_words:
        return 1.0
    sentences = _sentences(evidence)
    best = 0.0
    for index, words in enumerate(sentences):
        share = len(answer_words & words) / len(answer_words) if answer_words else 1.0
        if share > best:  # else it cannot be better
            around = frozenset().union(*sentences[max(0, index - 1) : index + 2])
            best = max(best, share * len(question_words & around) / len(question_words))
    return best


@lru_cache(maxsize=_KEPT)
def _sentences(text: str) -> tuple[frozenset[str], ...]:
    return tuple(content_words(sentence) for sentence in _SENTENCE_END.split(text) if sentence.strip())
