"""Implement the policy ``best_of_n``, which gives the sample of a prompt that the verifier supports most."""

from __future__ import annotations

from dataclasses import replace

from evaluation.policies.candidate import Candidate
from evaluation.policies.policy import Draft, PolicyTools


class BestOfN:
    """A policy that selects the answer with the highest score, and the earlier one of equal scores.

    If no score reaches the threshold, an answer that declines ranks above an unsupported one.
    """

    name = "best_of_n"

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold

    async def apply(self, draft: Draft, tools: PolicyTools) -> Draft:
        """Return the draft with the best answer only."""
        best = max(range(len(draft.candidates)), key=lambda i: (*self._rank(draft.candidates[i]), -i))
        return replace(draft, candidates=(draft.candidates[best],))

    def _rank(self, candidate: Candidate) -> tuple[int, float]:
        score = candidate.score_now
        if score is not None and score >= self._threshold:
            return 2, score
        if candidate.evaluation.outcome == "abstained":
            return 1, 0.0
        return 0, -1.0 if score is None else score
