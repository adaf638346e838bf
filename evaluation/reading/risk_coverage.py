"""Compute the risk of a reader's answers as a function of the share of questions answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class CoveragePoint:
    """A point of a risk-coverage curve.

    coverage: share of the questions that are answered, the most confident first.
    risk: mean loss of these answers.
    confidence: lowest confidence among these answers.
    """

    coverage: float
    risk: float
    confidence: float


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """A risk-coverage curve.

    points: points at coverage 0.1, 0.2 ... 1.
    area: area under the complete curve (AURC), which is the mean risk over all coverages.
    best_area: area for a perfect order of the same answers.
    random_area: area for a random order, which is the risk of all answers.
    """

    points: tuple[CoveragePoint, ...]
    area: float
    best_area: float
    random_area: float


def risk_coverage(confidence: Sequence[float], wrong: Sequence[float]) -> RiskCoverage:
    """Return the risk-coverage curve (El-Yaniv and Wiener 2010, section 2; its area: Geifman et al. 2019, eq. 2).

    confidence: (N,), a score that is higher for more confident answers.
    wrong: (N,), loss of each answer in [0, 1].

    Answers with equal confidence are accepted together: each gets their mean loss. Raises EvaluationError for no
    answers or unequal lengths.
    """
    if len(confidence) != len(wrong) or not confidence:
        raise EvaluationError(f"{len(confidence)} confidences for {len(wrong)} losses: at least one of each is needed")
    confidences, loss = np.asarray(confidence, dtype=np.float64), np.asarray(wrong, dtype=np.float64)
    order = np.argsort(-confidences, kind="stable")
    _, tie = np.unique(-confidences[order], return_inverse=True)
    tied = (np.bincount(tie, weights=loss[order]) / np.bincount(tie))[tie]
    risk = np.cumsum(tied) / np.arange(1, len(tied) + 1)
    best = np.cumsum(np.sort(loss)) / np.arange(1, len(loss) + 1)
    counts = [max(1, round(len(loss) * tenth / 10)) for tenth in range(1, 11)]
    points = tuple(CoveragePoint(n / len(loss), float(risk[n - 1]), float(confidences[order][n - 1])) for n in counts)
    return RiskCoverage(points, float(risk.mean()), float(best.mean()), float(loss.mean()))
