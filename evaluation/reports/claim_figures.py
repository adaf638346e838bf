"""Compute figures of claims: claims per response, unsupported claims, and mean lack of support.

These figures are secondary (docs/architecture.md, rule 2). By the headline's rule, a response with more claims is more
often hallucinated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.reports.report_data import ReportData, ReportQuestion, ReportSample
from evaluation.statistics.estimates import HallucinationEstimate, undefined
from evaluation.statistics.measure import Resampler, Settings, measure_ratio


@dataclass(frozen=True, slots=True)
class ArmClaims:
    """Claim figures of one arm.

    responses, claims: numbers of responses and claims.
    per_response: number of claims per response; None without a response.
    unsupported: unsupported share of the scored claims.
    soft: mean of 1 - V over scored responses. For a response it is the mean over its scored claims, or 0 if it
        declines.
    """

    arm: str
    responses: int
    claims: int
    per_response: float | None
    unsupported: HallucinationEstimate
    soft: HallucinationEstimate


def claim_figures(questions: Sequence[ReportQuestion], arms: Sequence[str], level: float) -> tuple[ArmClaims, ...]:
    """Return the claim figures of all arms in order: ratios of totals with the default interval, clustered by question.

    level: level of the intervals.
    """
    # The bootstrap interval is not used here, so the smallest number of replicates saves time.
    resampler = Resampler(Settings(level=level, bootstrap=100))
    by_arm = {arm: [a.samples for q in questions for a in q.arms if a.arm == arm and a.samples] for arm in arms}
    return tuple(_claims(arm, answered, resampler) for arm, answered in by_arm.items())


def claims_of(data: ReportData) -> tuple[ArmClaims, ...]:
    """Return the claim figures of a report; empty if the report has no answers."""
    arms = [arm.arm for arm in data.summary.arms]
    return claim_figures(data.questions, arms, data.summary.settings.level) if data.questions else ()


def mean_non_support(sample: ReportSample) -> float | None:
    """Return the mean of 1 - V over an answer's scored claims; 0 if it declines, None if it is unscored."""
    if sample.outcome == "abstained":
        return 0.0
    supports = [v.support for v in sample.verdicts if v.support is not None]
    if sample.outcome == "unscored" or not supports:
        return None
    return 1.0 - sum(supports) / len(supports)


def _claims(arm: str, answered: Sequence[tuple[ReportSample, ...]], resampler: Resampler) -> ArmClaims:
    labels = [[v.label for s in samples for v in s.verdicts] for samples in answered]
    scored = np.array([sum(n != "unscored" for n in found) for found in labels], dtype=np.float64)
    unsupported = np.array(
        [sum(n in ("contradicted", "unverifiable") for n in found) for found in labels], dtype=np.float64
    )
    claims, responses = sum(map(len, labels)), sum(map(len, answered))
    soft = [[u for s in samples if (u := mean_non_support(s)) is not None] for samples in answered]
    # Every question has the same weight, whatever its number of samples, as in the headline.
    sizes = np.array([len(samples) for samples in answered], dtype=np.float64)
    scored_responses = np.array([len(found) for found in soft], dtype=np.float64)
    soft_sums = np.array([sum(found) for found in soft], dtype=np.float64)
    level = resampler.settings.level
    return ArmClaims(
        arm,
        responses,
        claims,
        claims / responses if responses else None,
        measure_ratio(unsupported, scored, int(scored.sum()), resampler).default
        if claims
        else undefined(level, "no claim was made"),
        measure_ratio(
            np.minimum(soft_sums, scored_responses) / sizes,
            scored_responses / sizes,
            int(scored_responses.sum()),
            resampler,
        ).default
        if responses
        else undefined(level, "no response falls in the denominator"),
    )
