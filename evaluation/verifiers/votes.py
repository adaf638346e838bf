"""Count votes and probabilities of yes and no in a language model's answers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from generation.completion import Completion

Vote = Literal["yes", "no", ""]
_YES = frozenset({"yes", "true", "supported", "correct"})
_NO = frozenset({"no", "not", "false", "unsupported", "incorrect"})
_FIRST = re.compile(r"[^\W\d_]+")
_READABLE = 0.5
"""Minimum share of probability or votes for yes or no. Below it the claim is unscored."""


@dataclass(frozen=True, slots=True)
class VoteCount:
    """Counted votes. probabilities: probabilities of the observed yes, no and neither; None if unknown."""

    yes: int
    no: int
    neither: int
    probabilities: tuple[float, float, float] | None


def vote_of(text: str) -> Vote:
    """Return "yes" or "no" by the first word of an answer; "" for neither."""
    first = _FIRST.search(text)
    word = first.group().casefold() if first else ""
    return "yes" if word in _YES else "no" if word in _NO else ""


def count_votes(completions: Sequence[Completion]) -> VoteCount:
    """Count the votes in a model's answers. The probability of each distinct first word counts once."""
    votes: dict[Vote, int] = {"yes": 0, "no": 0, "": 0}
    seen: dict[str, tuple[Vote, float]] = {}
    known = True
    for completion in completions:
        reading = vote_of(completion.text)
        votes[reading] += 1
        if not completion.token_logprobs or not math.isfinite(completion.token_logprobs[0]):
            known = False
            continue
        word = next(iter(completion.text.split()), "")
        seen.setdefault(word, (reading, min(1.0, math.exp(completion.token_logprobs[0]))))
    totals = tuple(sum(p for r, p in seen.values() if r == kind) for kind in ("yes", "no", ""))
    probabilities = (totals[0], totals[1], totals[2]) if known and completions else None
    return VoteCount(votes["yes"], votes["no"], votes[""], probabilities)


def support_of(votes: VoteCount) -> float | None:
    """Return P(yes | yes or no); None if too small a share of the answers is a yes or a no.

    With probabilities, the unobserved mass is split evenly between yes and no. With votes, it is the share of votes.
    """
    if votes.probabilities is not None:
        yes, no, neither = votes.probabilities
        unseen = max(0.0, 1.0 - yes - no - neither)
        readable = yes + no
        if readable <= 0.0 or readable < _READABLE * (readable + neither):
            return None
        return min(1.0, (yes + unseen / 2.0) / (yes + no + unseen))
    readable_votes = votes.yes + votes.no
    if not readable_votes or readable_votes < _READABLE * (readable_votes + votes.neither):
        return None
    return votes.yes / readable_votes
