"""flag: unsupported spans of an answer are marked; its text stays."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.outcomes import Label
from evaluation.policies.candidate import Candidate
from evaluation.policies.policy import Draft, PolicyTools


@dataclass(frozen=True, slots=True)
class FlaggedSpan:
    """``text[start:end]`` of the answer is a claim that is not supported. support: None where it is unscored."""

    start: int
    end: int
    text: str
    label: Label
    support: float | None
    reason: str


class Flag:
    """Marks are computed from the verdicts of whatever is answered in the end (``flagged_spans``), so that their
    offsets fit the text after the policies that follow.
    """

    name = "flag"

    async def apply(self, draft: Draft, tools: PolicyTools) -> Draft:
        """The same answers."""
        return draft


def flagged_spans(candidate: Candidate, threshold: float) -> tuple[FlaggedSpan, ...]:
    """Claims with a support below the threshold, and claims that could not be scored, in order of place."""
    return tuple(
        FlaggedSpan(v.claim.start, v.claim.end, v.claim.text, v.label, v.support, v.reason)
        for v in sorted(candidate.evaluation.verdicts, key=lambda v: v.claim.start)
        if v.support is None or v.support < threshold
    )
