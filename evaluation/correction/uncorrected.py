"""The verifier's own figures, as the run's summary has them: what corrected ones stand beside.

Nothing is computed here, so that an arm and a pair have one uncorrected figure each, over one set of questions: all
that the arm or the pair has. Labels may have been drawn from fewer, those that have every labelled arm.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.statistics.estimates import HallucinationEstimate, undefined
from evaluation.statistics.summary import ArmSummary, RunSummary

NO_SUMMARY = "the verifier's own figures were not summarised"
NOT_COMPARED = "the run does not compare these two arms"


@dataclass(frozen=True, slots=True)
class Uncorrected:
    """The figures of a summary by name. summary: None where there is none; all figures are then undefined."""

    summary: RunSummary | None
    level: float

    def hallucinated(self, arm: str) -> HallucinationEstimate:
        """Of all responses of an arm."""
        found = self._arm(arm)
        return found.hallucinated.default if found else undefined(self.level, NO_SUMMARY)

    def answered(self, arm: str) -> HallucinationEstimate:
        """Of an arm's answers."""
        found = self._arm(arm)
        return found.hall_answered.default if found else undefined(self.level, NO_SUMMARY)

    def difference(self, baseline: str, other: str) -> HallucinationEstimate:
        """Of a pair, undefined where the summary does not compare the two."""
        if self.summary is None:
            return undefined(self.level, NO_SUMMARY)
        for pair in self.summary.pairs:
            if (pair.baseline, pair.other) == (baseline, other):
                return pair.difference.default
        return undefined(self.level, NOT_COMPARED)

    def _arm(self, name: str) -> ArmSummary | None:
        return next((a for a in self.summary.arms if a.arm == name), None) if self.summary else None
