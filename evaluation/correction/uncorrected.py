"""Uncorrected figures for comparison with the corrected ones, taken from the run's summary.

They cover all questions of an arm or pair. Labels may have been drawn from fewer questions, those that have every
labelled arm.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.statistics.estimates import HallucinationEstimate, undefined
from evaluation.statistics.run_summary import ArmSummary, RunSummary

NO_SUMMARY = "the verifier's figures were not summarised"
NOT_COMPARED = "the run does not compare these two arms"


@dataclass(frozen=True, slots=True)
class Uncorrected:
    """Figures of a summary by name. summary: None if there is none; all figures are then undefined."""

    summary: RunSummary | None
    level: float

    def hallucinated(self, arm: str) -> HallucinationEstimate:
        """Return the rate over all responses of an arm."""
        found = self._arm(arm)
        return found.hallucinated.default if found else undefined(self.level, NO_SUMMARY)

    def answered(self, arm: str) -> HallucinationEstimate:
        """Return the rate over an arm's answers."""
        found = self._arm(arm)
        return found.hall_answered.default if found else undefined(self.level, NO_SUMMARY)

    def difference(self, baseline: str, other: str) -> HallucinationEstimate:
        """Return the difference of a pair; undefined if the summary does not compare the two arms."""
        if self.summary is None:
            return undefined(self.level, NO_SUMMARY)
        for pair in self.summary.pairs:
            if (pair.baseline, pair.other) == (baseline, other):
                return pair.difference.default
        return undefined(self.level, NOT_COMPARED)

    def _arm(self, name: str) -> ArmSummary | None:
        return next((a for a in self.summary.arms if a.arm == name), None) if self.summary else None
