"""Random draw of one claim from an article, in the style of an answer, with the sentences that support it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from evaluation.synthetic_claims.merging import merged
from evaluation.synthetic_claims.restyling import apply_style
from evaluation.synthetic_claims.shortening import shorten
from evaluation.synthetic_claims.source_text import Article, refers_back


@dataclass(frozen=True, slots=True)
class DrawnClaim:
    """A claim drawn from an article.

    text: text of the claim. needed: indices of the sentences that support it. used: text of those sentences.
    last: for a merged claim, character offset of its last part, else 0.
    named: whether the claim names the subject although its sentence does not.
    """

    text: str
    needed: tuple[int, ...]
    used: str
    last: int
    named: bool


def draw_claim(article: Article, suited: Sequence[int], chance: Random, share_merged: float) -> DrawnClaim:
    """Return a true claim: one of the ``suited`` sentences, restyled and shortened.

    share_merged: probability of merging it with one or two later sentences.
    """
    first = chance.choice(suited)
    if refers_back(article.resolved(first, chance)) and chance.random() < 0.75:
        first = chance.choice(suited)
    needed = [first]
    if chance.random() < share_merged:
        limit = 2 if chance.random() < 0.75 else 3
        needed += [i for i in article.claimable if first < i <= first + 4][: limit - 1]
    parts: list[str] = []
    named = False
    for index in needed:
        sentence = article.resolved(index, chance)
        named = named or sentence != article.sentences[index]
        parts.append(apply_style(shorten(sentence, chance), chance))
    used = " ".join(article.sentences[i] for i in needed)
    text, last = parts[0], 0
    for part in parts[1:]:
        joined = merged(text, part, chance, article.plain)
        last = _first_letter(joined, len(text) - 1) if joined.startswith(text[:-1]) else 0
        text = joined
    return DrawnClaim(text, tuple(needed), used, last, named)


def _first_letter(text: str, start: int) -> int:
    """Return the offset of the first letter or digit at or after ``start``."""
    return next((i for i in range(start, len(text)) if text[i].isalnum()), 0)
