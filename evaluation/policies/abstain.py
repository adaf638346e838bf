"""abstain: below a threshold the answer is that the documents do not say."""

from __future__ import annotations

from dataclasses import replace

from evaluation.policies.candidate import Candidate
from evaluation.policies.policy import Draft, PolicyTools


class Abstain:
    """Withholds answers whose score, the support of their least supported claim, is below the threshold, and answers
    without a score: a claim could not be scored, or they make none.
    """

    name = "abstain"

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold

    async def apply(self, draft: Draft, tools: PolicyTools) -> Draft:
        """Each answer, or ``DECLINED`` in its place."""
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
