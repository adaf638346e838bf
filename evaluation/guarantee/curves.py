"""Hallucination rate among answers as a function of the share answered, with bands and the area under the curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from evaluation.errors import EvaluationError
from evaluation.guarantee.answers import LabelledAnswers
from evaluation.guarantee.levels import check_level
from evaluation.guarantee.thresholds import check_thresholds
from evaluation.reading.risk_coverage import risk_coverage
from evaluation.statistics.counts import Floats


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Rates at one threshold.

    answered: number of answered questions. answer_rate: share of questions answered. rate: hallucinated share of the
    answers, None without answers. lower, upper: limits of that rate. band_lower, band_upper: limits of the simultaneous
    band over all thresholds.
    """

    threshold: float
    answered: int
    answer_rate: float
    rate: float | None
    lower: float
    upper: float
    band_lower: float
    band_upper: float


@dataclass(frozen=True, slots=True)
class RateCurve:
    """Rate among answers as a function of the share answered.

    points: from strict to loose. area: area under the curve (AURC) of the answers with a score. best_area: area for a
    perfect order of the same answers. random_area: area for a random order. All areas are None if no answer has a
    score.
    """

    level: float
    questions: int
    points: tuple[CurvePoint, ...]
    area: float | None
    best_area: float | None
    random_area: float | None


def clopper_pearson(events: Floats, trials: Floats, level: float) -> tuple[Floats, Floats]:
    """Return Clopper-Pearson limits of a binomial rate (1934); 0 and 1 without trials. Shapes broadcast."""
    tail = (1.0 - level) / 2.0
    x, n = np.broadcast_arrays(np.asarray(events, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    with np.errstate(invalid="ignore"):
        lower = np.where(x > 0, special.betaincinv(np.maximum(x, 1e-300), n - x + 1.0, tail), 0.0)
        upper = np.where(x < n, special.betaincinv(x + 1.0, np.maximum(n - x, 1e-300), 1.0 - tail), 1.0)
    return lower, upper


def rate_curve(answers: LabelledAnswers, thresholds: Sequence[float], level: float = 0.95) -> RateCurve:
    """Compute the curve at these thresholds, which must be fixed without knowledge of the labels.

    Limits are Clopper-Pearson's. The band uses Clopper-Pearson at level 1 - (1 - level) / T for T thresholds
    (Bonferroni), which needs no assumption on their dependence. The labels must not come from the verifier that scores.
    Raises EvaluationError if a question has several labelled answers, or the thresholds are not ordered.
    """
    check_level("level", level)
    ordered = check_thresholds(thresholds)
    if not len(answers.score) or not answers.one_each:
        raise EvaluationError("a curve needs at least one question, and exactly one labelled answer per question")
    passes = np.stack([answers.passes(t) for t in ordered])
    answered = passes.sum(axis=1).astype(np.float64)
    wrong = (passes & answers.hallucinated).sum(axis=1).astype(np.float64)
    lower, upper = clopper_pearson(wrong, answered, level)
    band_lower, band_upper = clopper_pearson(wrong, answered, 1.0 - (1.0 - level) / len(ordered))
    points = tuple(
        CurvePoint(
            threshold,
            int(answered[i]),
            float(answered[i] / len(answers.score)),
            float(wrong[i] / answered[i]) if answered[i] else None,
            *(float(limit[i]) for limit in (lower, upper, band_lower, band_upper)),
        )
        for i, threshold in enumerate(ordered)
    )
    scored = answers.passes(0.0)
    if not scored.any():
        return RateCurve(level, len(answers.score), points, None, None, None)
    area = risk_coverage(answers.score[scored].tolist(), answers.hallucinated[scored].astype(float).tolist())
    return RateCurve(level, len(answers.score), points, area.area, area.best_area, area.random_area)
