"""The sentence that a claim rests on taken out of its evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from data.pairs import PairExample
from evaluation.synthetic_claims.altered.alteration import Alteration, Spans
from model.verifier.content_words import content_words

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+(?=\s|$)|\n|$|[.!?])")
_FEWEST = 4  # content words: of fewer nothing is told by how many are there
_HELD, _LOST, _STEADY = 0.55, 0.35, 0.05


def removed(answer: Sequence[PairExample], chance: Random) -> Alteration | None:
    """A sentence taken out that some supported claim surely rests on, and each claim surely does or surely does not.

    A claim rests on a sentence that has more than half of its content words while no other has a third of them; it
    does not where another sentence has as many. None where no sentence is so, and for records.
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
        told = _told(answer, words, index)
        if told is not None:
            start, end = spans[index]
            return Alteration(evidence[:start] + evidence[end:], told)  # its own space goes with it
    return None


def _told(answer: Sequence[PairExample], words: Sequence[frozenset[str]], gone: int) -> tuple[Spans | None, ...] | None:
    """Of each claim what taking the sentence out does to it; None where that is not sure, or it does nothing."""
    out: list[Spans | None] = []
    for example in answer:
        topic = content_words(example.claim)
        shares = [len(topic & there) / len(topic) if topic else 0.0 for there in words]
        left = max(share for index, share in enumerate(shares) if index != gone)
        if not example.supported or shares[gone] <= left + _STEADY:
            out.append(())
        elif len(topic) >= _FEWEST and shares[gone] > _HELD and left < _LOST:
            out.append(None)
        else:
            return None
    return tuple(out) if None in out else None
