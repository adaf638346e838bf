"""Fixed-sequence testing of thresholds, strictest first: each at the full level, up to the first failure.

The order of the tests does not depend on the labels, and they stop at the first p-value above delta. Together they
reject any true null hypothesis with probability at most delta (Maurer, Hothorn and Lehmacher 1995; for thresholds:
Angelopoulos et al. 2021, "Learn then Test", section 3). A wrong rejection requires that the first true null is
rejected, which has probability at most delta. Nothing is assumed about how the rate changes with the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.guarantee.answers import NO_SCORE, Bools, LabelledAnswers, check_scores
from evaluation.guarantee.betting import clustered_p_value, question_means
from evaluation.guarantee.exact import answered_needed, exceedance_p_value, fewest_answered
from evaluation.guarantee.levels import check_level
from evaluation.guarantee.unlabelled import UnlabelledScores
from evaluation.statistics.counts import Floats

TestName = Literal["exact_binomial", "betting", "prediction_powered_betting"]
STEPS = 20
_EASY_RATE, _LEAST_SHARE = 0.25, 1.0 / 3.0
"""Targets of the first threshold.

It should certify a rate of this share of alpha, and answer this share of the questions.
"""


@dataclass(frozen=True, slots=True)
class ThresholdTest:
    """Test of one threshold.

    answered, hallucinated: numbers of labelled answers at or above the threshold. answer_rate: share of the questions'
    answers that reach it. p_value: p-value of "the rate is at least alpha"; None if the threshold was not tested
    because a stricter one failed. passed: whether it was tested with p <= delta.
    """

    threshold: float
    answered: int
    hallucinated: int
    answer_rate: float
    p_value: float | None
    passed: bool


@dataclass(frozen=True, slots=True)
class ThresholdSequence:
    """Tests in order, strictest threshold first, each at level delta."""

    alpha: float
    delta: float
    test: TestName
    tests: tuple[ThresholdTest, ...]

    @property
    def chosen(self) -> ThresholdTest | None:
        """The loosest threshold that passed, which answers most questions; None if none passed."""
        passed = [test for test in self.tests if test.passed]
        return passed[-1] if passed else None


def threshold_grid(
    scores: Floats, labels: int, alpha: float, delta: float, steps: int = STEPS, start: float | None = None
) -> tuple[float, ...]:
    """Return thresholds from strict to loose, based on the scores of answers outside the test (a separate split).

    scores: (M,), ``NO_SCORE`` if there is none. labels: number of labelled questions in the test. start: share of the
    questions that the first threshold answers, in place of the default.

    By default the first threshold answers a third of the labelled questions. It answers more if that is needed to
    certify a rate of alpha / 4 with the default power in expectation, or to have ``fewest_answered`` answers in 99 of
    100 cases. The last threshold answers every question with a score. Duplicates are removed. Raises EvaluationError
    for fewer than two scores, no numeric score, or steps below 1.
    """
    check_scores(scores)
    if len(scores) < 2 or steps < 1:
        raise EvaluationError(f"{len(scores)} scores, {steps} steps: a grid needs at least 2 scores and 1 step")
    usable = np.sort(scores[scores > NO_SCORE])[::-1]
    if not usable.size:
        raise EvaluationError("no answer has a score: the verifier scored none, so no threshold can be set")
    first = start_share(labels, alpha, delta) if start is None else start
    largest = usable.size / len(scores)
    shares = np.linspace(min(first, largest), largest, steps) if steps > 1 else np.array([largest])
    indices = np.clip(np.ceil(shares * len(scores) - 1e-9).astype(np.intp) - 1, 0, usable.size - 1)
    return tuple(dict.fromkeys(float(t) for t in usable[indices]))


def start_share(labels: int, alpha: float, delta: float) -> float:
    """Return the share of the questions that the first threshold should answer; at most 1. See ``threshold_grid``."""
    if labels < 1:
        raise EvaluationError(f"{labels} labelled questions: at least one is needed")
    least = fewest_answered(alpha, delta)
    good = answered_needed(_EASY_RATE * alpha, alpha, delta) or least
    # Expected number that gives ``least`` answers in 99 of 100 cases: 2.33 standard deviations more, 0.5 for rounding.
    sure = least + 0.5 + 2.33 * math.sqrt(least)
    return min(1.0, max(float(good), sure, _LEAST_SHARE * labels) / labels)


def check_thresholds(thresholds: Sequence[float]) -> tuple[float, ...]:
    """Return the thresholds.

    Raises EvaluationError unless they lie in [0, 1] and strictly decrease (strictest first).
    """
    if not thresholds:
        raise EvaluationError("no threshold is given: give at least one")
    for value in thresholds:
        if not (math.isfinite(value) and 0.0 <= value <= 1.0):
            raise EvaluationError(f"the threshold {value} must lie between 0 and 1")
    for first, second in pairwise(thresholds):
        if second >= first:
            raise EvaluationError(
                f"thresholds {first:g}, {second:g} are not in order: give them from strict to loose, without repetition"
            )
    return tuple(thresholds)


def fixed_sequence(
    answers: LabelledAnswers,
    thresholds: Sequence[float],
    alpha: float,
    delta: float,
    unlabelled: UnlabelledScores | None = None,
) -> ThresholdSequence:
    """Test the thresholds in order, each at level delta, until one fails.

    thresholds: fixed without knowledge of these answers' labels. unlabelled: scores of answers without labels, for a
    prediction-powered test (evaluation.guarantee.predicted).

    One labelled answer per question is tested by the exact binomial test, several by betting on question means. Raises
    EvaluationError for no answers, levels outside (0, 1) and thresholds that are not ordered.
    """
    check_level("alpha", alpha)
    check_level("delta", delta)
    ordered = check_thresholds(thresholds)
    if not len(answers.score):
        raise EvaluationError("no answer is labelled: label answers of the run, then calibrate")
    test: TestName = "exact_binomial" if answers.one_each else "betting"
    if unlabelled is not None:
        test = "prediction_powered_betting"
    rows: list[ThresholdTest] = []
    going = True
    for threshold in ordered:
        passes = answers.passes(threshold)
        answered, wrong = int(passes.sum()), int((passes & answers.hallucinated).sum())
        p = None
        if going:
            p = unlabelled.p_value(answers, threshold, alpha) if unlabelled else _p_value(answers, passes, alpha)
        going = p is not None and p <= delta
        rate = unlabelled.answer_rate(answers, threshold) if unlabelled else _answer_rate(answers, passes)
        rows.append(ThresholdTest(threshold, answered, wrong, rate, p, going))
    return ThresholdSequence(alpha, delta, test, tuple(rows))


def _answer_rate(answers: LabelledAnswers, passes: Bools) -> float:
    return float(question_means(passes.astype(np.float64), answers.question).mean())


def _p_value(answers: LabelledAnswers, let_through: Bools, alpha: float) -> float:
    passes = let_through.astype(np.float64)
    wrong = passes * answers.hallucinated
    if answers.one_each:
        return float(exceedance_p_value(wrong.sum(), passes.sum(), alpha))
    return float(
        clustered_p_value(question_means(wrong, answers.question), question_means(passes, answers.question), alpha)
    )
