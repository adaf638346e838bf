"""Compute hallucination rates by entailment threshold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from evaluation.outcomes import Outcome, Verdict, outcome_of
from evaluation.reports.report_data import EntailmentFigures, ReportQuestion, ReportSample, ThresholdRow
from evaluation.statistics.estimates import HallucinationEstimate, undefined
from evaluation.statistics.measure import Resampler, Settings, mean_responses, measure_ratio

GRID = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def entailment_figures(
    questions: Sequence[ReportQuestion], arms: Sequence[str], threshold: float, level: float = 0.95
) -> EntailmentFigures | None:
    """Return the rates by threshold of a run; None if no question was judged by entailment.

    threshold: threshold of the run.
    level: level of the intervals, which are pointwise and clustered by question.

    A rate at another threshold is computed from the stored support of the verdicts (docs/architecture.md, rule 8).
    Questions judged by references keep their outcomes.
    """
    judged = [q for q in questions if q.by_entailment]
    if not judged:
        return None
    # The bootstrap interval is not used here, so the smallest number of replicates saves time.
    resampler = Resampler(Settings(level=level, bootstrap=100))
    grid = sorted({*GRID, threshold})
    rows = tuple(
        ThresholdRow(t, t == threshold, tuple(_rate(_samples(questions, arm), t, resampler) for arm in arms))
        for t in grid
    )
    return EntailmentFigures(len(judged), len(questions), threshold, tuple(arms), rows)


def outcome_at(sample: ReportSample, threshold: float) -> Outcome:
    """Return the outcome at this threshold of an answer judged by entailment."""
    if not sample.verdicts:
        return sample.outcome
    return outcome_of(tuple(_relabelled(v, threshold) for v in sample.verdicts), False).outcome


def _relabelled(verdict: Verdict, threshold: float) -> Verdict:
    if verdict.support is None:
        return verdict
    return replace(verdict, label="supported" if verdict.support >= threshold else "unverifiable")


def _samples(questions: Iterable[ReportQuestion], arm: str) -> list[tuple[ReportQuestion, tuple[ReportSample, ...]]]:
    return [(q, a.samples) for q in questions for a in q.arms if a.arm == arm and a.samples]


def _rate(
    answered: Sequence[tuple[ReportQuestion, tuple[ReportSample, ...]]], threshold: float, resampler: Resampler
) -> HallucinationEstimate:
    """Return the hallucinated share of all responses, as in the headline."""
    if not answered:
        return undefined(resampler.settings.level, "no response falls in the denominator")
    sizes = np.array([len(samples) for _, samples in answered], dtype=np.float64)
    shares = np.array(
        [
            sum((outcome_at(s, threshold) if q.by_entailment else s.outcome) == "hallucinated" for s in samples)
            for q, samples in answered
        ]
    )
    independent = mean_responses(sizes)
    return measure_ratio(shares / sizes, np.ones(len(sizes)), int(sizes.sum()), resampler, independent).default
