"""Removal of the sentence that supports a claim from its evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from data.pairs import PairExample
from evaluation.synthetic_claims.altered.alteration import Alteration, Spans
from model.verifier.content_words import content_words

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+(?=\s|$)|\n|$|[.!?])")
_FEWEST = 4  # content words; with fewer, their overlap is not informative
_SUPPORTED, _LOST, _STEADY = 0.55, 0.35, 0.05


def remove_sentence(answer: Sequence[PairExample], chance: Random) -> Alteration | None:
    """Remove a sentence that certainly supports some claim, if its effect on every claim is certain.

    A sentence supports a claim if it has more than half of the claim's content words and no other sentence has a third
    of them. It does not if another sentence has about as many. Returns None if no sentence qualifies, and for records.
    """
    evidence = answer[0].evidence
    if evidence.lstrip()[:1] in ("{", "["):
        return None
    spans = [match.span() for match in _SENTENCE.finditer(evidence)]
    words = [content_words(evidence[start:end]) for start, end in spans]
    if len(spans) < 4:
        return None
    order = list(range(len(spans)))
    chance.shuffle(order)
    for index in order:
        effects = _effects(answer, words, index)
        if effects is not None:
            start, end = spans[index]
            return Alteration(evidence[:start] + evidence[end:], effects)  # the span includes the preceding space
    return None


def _effects(
    answer: Sequence[PairExample], words: Sequence[frozenset[str]], removed_index: int
) -> tuple[Spans | None, ...] | None:
    """Return the effect of removing the sentence on each claim; None if one is uncertain, or if there is no effect."""
    out: list[Spans | None] = []
    for example in answer:
        topic = content_words(example.claim)
        shares = [len(topic & there) / len(topic) if topic else 0.0 for there in words]
        remaining = max(share for index, share in enumerate(shares) if index != removed_index)
        if not example.supported or shares[removed_index] <= remaining + _STEADY:
            out.append(())
        elif len(topic) >= _FEWEST and shares[removed_index] > _SUPPORTED and remaining < _LOST:
            out.append(None)
        else:
            return None
    return tuple(out) if None in out else None
