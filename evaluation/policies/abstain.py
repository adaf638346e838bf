"""Implement the policy ``abstain``, which withholds an answer with a score below a threshold."""

from __future__ import annotations

from dataclasses import replace

from evaluation.policies.candidate import Candidate
from evaluation.policies.policy import Draft, PolicyTools


class Abstain:
    """A policy that withholds answers with a score below the threshold, and answers without a score.

    The score is the support of the least supported claim. An answer has no score if a claim could not be scored or if
    it makes no claim.
    """

    name = "abstain"

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold

    async def apply(self, draft: Draft, tools: PolicyTools) -> Draft:
        """Return the draft with each answer, or ``DECLINED`` in its place."""
        return replace(draft, candidates=tuple(self._decided(c) for c in draft.candidates))

    def _decided(self, candidate: Candidate) -> Candidate:
        if candidate.withheld:
            return candidate
        score, evaluation = candidate.score_now, candidate.evaluation
        if score is not None and score >= self._threshold:
            return candidate
        if score is not None:
            reason = f"the score {score:.3f} is below the threshold {self._threshold:g}"
        elif evaluation.outcome == "abstained":
            reason = "the model declined to answer"
        else:
            unscored = next((v.reason for v in evaluation.verdicts if v.support is None), evaluation.reason)
            reason = f"the answer has no score: {unscored}"
        return candidate.withhold(self.name, reason)
