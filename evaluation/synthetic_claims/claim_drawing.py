"""One claim drawn from an article as an answer would say it, with the sentences it stands on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from evaluation.synthetic_claims.merging import merged
from evaluation.synthetic_claims.restyling import apply_style
from evaluation.synthetic_claims.shortening import shorten
from evaluation.synthetic_claims.source_text import Article, points_back


@dataclass(frozen=True, slots=True)
class DrawnClaim:
    """text: the claim. needed: indices of the sentences it stands on. used: those sentences.

    last: of a claim merged from several, the start of its last part in characters, else 0. named: it names the subject
    where the sentence did not.
    """

    text: str
    needed: tuple[int, ...]
    used: str
    last: int
    named: bool


def draw_claim(article: Article, suited: Sequence[int], chance: Random, share_merged: float) -> DrawnClaim:
    """A true claim: one of the ``suited`` sentences apply_style and shortened, and at that share merged with one or two
    more.
    """
    first = chance.choice(suited)
    if points_back(article.resolved(first, chance)) and chance.random() < 0.75:
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
    """Where the first letter or digit at or after ``start`` is."""
    return next((i for i in range(start, len(text)) if text[i].isalnum()), 0)
