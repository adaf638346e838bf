"""Locate errors in claims by removing content words one by one. A word is weak if its removal raises support."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.claims.sentences import plain_claim_text
from evaluation.language.normalise import STOP_WORDS
from evaluation.outcomes import Claim
from model.pairs.scoring import Pair, PairScorer

MOST_WORDS = 24
"""Maximum number of content words tried per claim. In longer claims those with digits and capitals come first."""
MARGIN = 0.05
"""Minimum increase of support by the removal of a weak word. Without it, every claim would have a weak word."""

_WORD = re.compile(r"\d[\d.,:]*\d|\w[\w'’-]*")
_CITATION = re.compile(r"\[\d{1,9}\]")


@dataclass(frozen=True, slots=True)
class WeakWord:
    """A weak word of a completion, ``completion[start:end]``. gain: increase of support without it, in (MARGIN, 1]."""

    start: int
    end: int
    gain: float


@dataclass(frozen=True, slots=True)
class MarkedClaim:
    """A claim with its weak words, worst first."""

    claim: Claim
    weak: tuple[WeakWord, ...]


@dataclass(frozen=True, slots=True)
class WeakClaim:
    """A claim whose weak words are to be found.

    premise, question: evidence and question with which it was scored.
    support: its score.
    full_evidence: the complete evidence if the premise is a part of it, else "".
    answer: claims with which it was read together, including it.
    """

    claim: Claim
    premise: str
    question: str
    support: float
    full_evidence: str = ""
    answer: tuple[str, ...] = ()


def weak_words(
    scorer: PairScorer, claims: Sequence[WeakClaim], *, most: int = MOST_WORDS, margin: float = MARGIN
) -> tuple[tuple[WeakWord, ...], ...]:
    """Return the weak words of each claim, worst first, with one call of the scorer.

    most: maximum number of words to try per claim.
    margin: minimum increase of support by the removal of a weak word.

    The method is leave-one-out over content words (Li et al. 2016, "Understanding neural networks through
    representation erasure", equation 1). Offsets refer to the completion. A claim without letters or digits after the
    removal is not tried. Raises the errors of the scorer.
    """
    tried = [_variants(w.claim, most) for w in claims]
    pairs = [
        Pair(w.premise, variant, w.question, w.full_evidence, _with_variant(w, variant))
        for w, variants in zip(claims, tried, strict=True)
        for _, _, variant in variants
    ]
    scores = iter(scorer.score(pairs) if pairs else ())
    out = []
    for weakness, variants in zip(claims, tried, strict=True):
        gains = [(next(scores) - weakness.support, start, end) for start, end, _ in variants]
        found = [WeakWord(start, end, gain) for gain, start, end in gains if gain > margin]
        out.append(tuple(sorted(found, key=lambda w: (-w.gain, w.start))))
    return tuple(out)


def _with_variant(weakness: WeakClaim, variant: str) -> tuple[str, ...]:
    """Return the claims that the claim was read with, with ``variant`` in its place."""
    plain = plain_claim_text(weakness.claim.text)
    return tuple(variant if claim == plain else claim for claim in weakness.answer)


def _variants(claim: Claim, most: int) -> list[tuple[int, int, str]]:
    """Return start and end of each content word in the completion, and the claim without it as a scorer reads it."""
    markers = [m.span() for m in _CITATION.finditer(claim.text)]
    words = [
        m
        for m in _WORD.finditer(claim.text)
        if m.group().casefold() not in STOP_WORDS and not any(s <= m.start() < e for s, e in markers)
    ]
    ordered = sorted(words, key=lambda m: not any(c.isdigit() or c.isupper() for c in m.group()))[:most]
    out = []
    for m in sorted(ordered, key=lambda m: m.start()):
        variant = plain_claim_text(claim.text[: m.start()] + " " + claim.text[m.end() :])
        if any(c.isalnum() for c in variant):
            out.append((claim.start + m.start(), claim.start + m.end(), variant))
    return out
