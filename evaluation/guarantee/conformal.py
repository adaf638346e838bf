"""Conformal risk control: a bound on the share of all questions that are answered *and* hallucinated, E[H A].

It is weaker than a certificate in two ways. First, it bounds E[H A], not the rate among answers E[H A] / E[A]. A policy
that answers 5 % of the questions and hallucinates in all of them has E[H A] = 0.05. Second, it holds on average over
calibrations, not with probability 1 - delta for this calibration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.guarantee.answers import NO_SCORE, LabelledAnswers
from evaluation.guarantee.levels import check_level

MEANING = "share of all questions that are answered and hallucinated, E[H A], on average over calibrations"


@dataclass(frozen=True, slots=True)
class ConformalThreshold:
    """Threshold chosen by conformal risk control.

    threshold: None if even answering nothing exceeds alpha. joint: observed E[H A]. answered: observed E[A].
    """

    alpha: float
    threshold: float | None
    joint: float
    answered: float
    meaning: str = MEANING


def conformal_threshold(answers: LabelledAnswers, alpha: float) -> ConformalThreshold:
    """Return the smallest threshold t with n/(n + 1) R(t) + 1/(n + 1) <= alpha, where R(t) is the mean of H A at t.

    Angelopoulos et al. 2024, "Conformal risk control", eq. 4 with B = 1. The theorem requires that H 1[score >= t] does
    not increase with t, which is true. Raises EvaluationError if a question has several labelled answers, or alpha is
    outside (0, 1).
    """
    check_level("alpha", alpha)
    n = len(answers.score)
    if n == 0 or not answers.one_each:
        raise EvaluationError(
            "conformal risk control needs at least one question, and exactly one labelled answer per question"
        )
    wrong = np.sort(answers.score[answers.hallucinated & ~answers.declined & (answers.score > NO_SCORE)])[::-1]
    allowed = int(np.floor(alpha * (n + 1) - 1 + 1e-9))  # largest number of hallucinated answers above the threshold
    if allowed < 0:
        return ConformalThreshold(alpha, None, 0.0, 0.0)
    candidates = np.unique(answers.score[answers.score > NO_SCORE])
    if wrong.size > allowed:
        candidates = candidates[candidates > wrong[allowed]]
    if not candidates.size:
        return ConformalThreshold(alpha, None, 0.0, 0.0)
    threshold = float(candidates[0])
    passes = answers.passes(threshold)
    return ConformalThreshold(alpha, threshold, float((passes & answers.hallucinated).mean()), float(passes.mean()))
