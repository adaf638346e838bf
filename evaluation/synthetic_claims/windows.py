"""Evidence windows: runs of an article's sentences that contain some sentences and leave out others."""

from __future__ import annotations

import re
from collections.abc import Collection
from random import Random

from evaluation.synthetic_claims.source_text import Article

MIN_WORDS, MAX_WORDS = 30, 350
_CONTENT = re.compile(r"[a-z][a-z'’-]{3,}|\d[\d.,]*\d|\d")
_COMMON = frozenset(
    [
        "that",
        "this",
        "with",
        "from",
        "have",
        "were",
        "been",
        "their",
        "they",
        "which",
        "also",
        "into",
        "more",
        "than",
        "when",
        "some",
        "other",
        "such",
        "most",
        "these",
        "those",
        "there",
        "after",
        "before",
        "about",
        "between",
        "under",
        "over",
        "first",
        "used",
        "many",
        "only",
        "during",
        "would",
        "could",
        "being",
        "while",
        "where",
    ]
)


def content_words(text: str) -> frozenset[str]:
    """Return the content words of the text, in lower case and cut to six letters, and its numbers.

    Words of fewer than four letters and common words are not content words.
    """
    return frozenset(word[:6] for word in _CONTENT.findall(text.lower()) if word not in _COMMON)


def window_around(
    article: Article, wanted: Collection[int], unwanted: Collection[int], chance: Random, needs_name: bool = False
) -> str | None:
    """Return a run of sentences around the ``wanted`` ones, without the ``unwanted`` ones and at random without others.

    wanted, unwanted: indices of sentences. needs_name: whether the window must name the article's subject, because the
    claim does. Returns None if the run has too few or too many words.
    """
    low, high = min(wanted), max(wanted)
    size = chance.randint(max(2, high - low + 1), max(12, high - low + 1))
    low = max(0, low - chance.randint(0, max(0, size - (high - low + 1))))
    high = max(high, min(len(article.sentences) - 1, low + size - 1))
    must = set(wanted)
    kept = [i for i in range(low, high + 1) if i not in unwanted]
    limit = chance.choice((80, 120, 180, 250, MAX_WORDS))
    while sum(len(article.sentences[i].split()) for i in kept) > limit:
        loose = [i for i in (kept[0], kept[-1]) if i not in must]
        if not loose:
            break
        kept.remove(chance.choice(loose))
    if chance.random() < 0.2:
        kept = [i for i in kept if i in must or chance.random() < 0.6]
    if chance.random() < 0.12:
        start = chance.randrange(len(article.sentences))
        block = [i for i in range(start, min(start + 3, len(article.sentences))) if i not in kept and i not in unwanted]
        kept = block + kept if chance.random() < 0.5 else kept + block
    return _joined(article, kept, chance, needs_name)


def window_elsewhere(
    article: Article, missing: int, about: str, chance: Random, needs_name: bool = False
) -> str | None:
    """Return a run of sentences that lacks sentence ``missing`` but has similar content.

    about: text whose content words are compared. The best of several random positions is taken.
    """
    topic = content_words(about)
    best: tuple[int, int] | None = None
    for _ in range(6):
        index = chance.randrange(len(article.sentences))
        if abs(index - missing) < 2:
            continue
        near = range(max(0, index - 1), min(len(article.sentences), index + 2))
        shared = len(topic & content_words(" ".join(article.sentences[i] for i in near if i != missing)))
        if best is None or shared > best[0]:
            best = (shared, index)
    if best is None:
        return None
    return window_around(article, (best[1],), (missing,), chance, needs_name)


def may_state(window: str, claim: str, share: float = 0.7) -> bool:
    """Return whether one sentence of the window may state the claim: it has most of the claim's content words."""
    topic = content_words(claim)
    if len(topic) < 3:
        return True
    pieces = re.split(r"(?<=[.;])\s|\n", window)
    return any(len(topic & content_words(piece)) >= share * len(topic) for piece in pieces)


def _joined(article: Article, kept: list[int], chance: Random, needs_name: bool) -> str | None:
    words = sum(len(article.sentences[i].split()) for i in kept)
    if not kept or not MIN_WORDS <= words <= MAX_WORDS:
        return None
    text = ("\n" if chance.random() < 0.15 else " ").join(article.sentences[i] for i in kept)
    titled = chance.random() < 0.25 or (needs_name and article.name.rsplit(" ", 1)[-1] not in text)
    return f"{article.title}\n{text}" if titled and article.title else text
