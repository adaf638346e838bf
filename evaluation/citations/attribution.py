"""Assignment of an answer's citations to its sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.outcomes import Claim
from generation.completion import Citation


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A claim of the answer with its citations.

    numbers: numbers of the cited chunks, in order of position, without duplicates.
    """

    claim: Claim
    numbers: tuple[int, ...]


def cited_sentences(claims: Sequence[Claim], citations: Sequence[Citation]) -> tuple[CitedSentence, ...]:
    """Assign each citation to a claim. A claim has the citations from its start up to the start of the next claim.

    A citation before the first claim belongs to the first. Claims are sorted by position.
    """
    ordered = sorted(claims, key=lambda claim: claim.start)
    found: list[CitedSentence] = []
    for number, claim in enumerate(ordered):
        start = claim.start if number else 0
        end = ordered[number + 1].start if number + 1 < len(ordered) else None
        mine = [c.number for c in citations if start <= c.start and (end is None or c.start < end)]
        found.append(CitedSentence(claim, tuple(dict.fromkeys(mine))))
    return tuple(found)
