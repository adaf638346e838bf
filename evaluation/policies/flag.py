"""Implement the policy ``flag``, which marks unsupported spans of an answer and does not change its text."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.outcomes import Label
from evaluation.policies.candidate import Candidate
from evaluation.policies.policy import Draft, PolicyTools


@dataclass(frozen=True, slots=True)
class FlaggedSpan:
    """An unsupported claim, ``text[start:end]`` of the answer. support: None if it is unscored."""

    start: int
    end: int
    text: str
    label: Label
    support: float | None
    reason: str


class Flag:
    """A policy that does not change the answers.

    The marks are computed from the verdicts of the final answer (``flagged_spans``), so that their offsets fit the text
    after the later policies.
    """

    name = "flag"

    async def apply(self, draft: Draft, tools: PolicyTools) -> Draft:
        """Return the draft unchanged."""
        return draft


def flagged_spans(candidate: Candidate, threshold: float) -> tuple[FlaggedSpan, ...]:
    """Return the claims with a support below the threshold and the unscored claims, in order of position."""
    return tuple(
        FlaggedSpan(v.claim.start, v.claim.end, v.claim.text, v.label, v.support, v.reason)
        for v in sorted(candidate.evaluation.verdicts, key=lambda v: v.claim.start)
        if v.support is None or v.support < threshold
    )
