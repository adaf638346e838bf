"""Check by rules whether the words of a question occur around a short answer in its evidence. English only.

A short answer that occurs in a passage looks supported to a small encoder, whatever the question is. As in the
sliding-window baseline of Richardson et al. 2013 ("MCTest", algorithm 1), an answer is scored by the words of question
and answer that are near each other. The window is the answer's sentence with the sentences before and after it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from model.verifier.content_words import content_words, word_count

MOST_WORDS = 8
"""Maximum words of a short answer. A longer claim repeats enough of its question to be judged without it."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_KEPT = 256


def is_short(claim: str) -> bool:
    """Return whether the claim has at most ``MOST_WORDS`` words."""
    return word_count(claim, MOST_WORDS + 1) <= MOST_WORDS


def is_short_answer_claim(question: str, claim: str) -> bool:
    """Return whether a claim is a short answer to a question, so that its context in the evidence is checked."""
    return bool(question.strip()) and is_short(claim)


def context_score(question: str, answer: str, evidence: str) -> float:
    """Return the score in [0, 1] of the best evidence sentence; 1 for a question without content words.

    A sentence's score is the share of the answer's words in it, times the share of the question's words in it and the
    two adjacent sentences. Words are compared by prefix, without stop words. An answer that consists of stop words
    ("yes") counts as present in every sentence.
    """
    question_words, answer_words = content_words(question), content_words(answer)
    if not question_words:
        return 1.0
    sentences = _sentences(evidence)
    best = 0.0
    for index, words in enumerate(sentences):
        share = len(answer_words & words) / len(answer_words) if answer_words else 1.0
        if share > best:  # otherwise the product cannot be larger
            around = frozenset().union(*sentences[max(0, index - 1) : index + 2])
            best = max(best, share * len(question_words & around) / len(question_words))
    return best


@lru_cache(maxsize=_KEPT)
def _sentences(text: str) -> tuple[frozenset[str], ...]:
    return tuple(content_words(sentence) for sentence in _SENTENCE_END.split(text) if sentence.strip())
