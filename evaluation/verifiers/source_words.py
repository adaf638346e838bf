"""List words about an answer and its sources rather than about the world, as in "the document mentions that"."""

from __future__ import annotations

import re

from evaluation.contrast.stems import stem
from evaluation.language.normalise import STOP_WORDS
from model.verifier.content_words import content_words

_WORD = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W_]+")


def content_and_numbers(text: str) -> frozenset[str]:
    """Return the stems of a text's content words, without single letters, and its numbers."""
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(
        word if word[0].isdigit() else stem(word)
        for word in words
        if word[0].isdigit() or (len(word) > 1 and word not in STOP_WORDS and content_words(word))
    )


SOURCE_WORDS = content_and_numbers(
    "answer answers question document documents passage passages paragraph text texts context article articles source "
    "sources chunk excerpt title page section information provided given supplied retrieved available following above "
    "below mention mentions mentioned state states stated say says said note notes noted according find found lies end "
    "contains contained based correct also only"
)
