"""Choose the thresholds to test, and the answers to test them on. No label is used for both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.calibration.labelled_run import LabelledArm
from app.errors import AppError
from evaluation.guarantee.answers import NO_SCORE, LabelledAnswers
from evaluation.guarantee.thresholds import threshold_grid
from evaluation.guarantee.unlabelled import ActiveUnlabelledScores, UniformUnlabelledScores, UnlabelledScores
from evaluation.statistics.counts import Floats

GridSource = Literal["given", "unlabelled answers", "a fifth of the labelled answers", "fixed in advance"]
FIXED_GRID = tuple(round(0.9 - 0.1 * step, 1) for step in range(10))
FEWEST_SPARE, FEWEST_TO_SPLIT = 20, 100
"""Minimum number of unlabelled scores that can set thresholds, and of labelled answers that can be split."""


@dataclass(frozen=True, slots=True)
class ThresholdPlan:
    """The thresholds to test, and the answers to test them on.

    source: where the thresholds come from. scores: scores that set the thresholds; None if the thresholds are given.
    given: the given thresholds, from strict to loose. tested: the labelled answers of the test. start: see
    ``threshold_grid``. unlabelled: unlabelled data of the test; None if it uses labels only.
    """

    source: GridSource
    scores: Floats | None
    given: tuple[float, ...]
    tested: LabelledAnswers
    start: float | None = None
    unlabelled: UnlabelledScores | None = None

    def thresholds(self, alpha: float, level: float) -> tuple[float, ...]:
        """Return the thresholds for one alpha. A larger alpha needs fewer answers, so its grid starts stricter."""
        if self.scores is None:
            return self.given
        return threshold_grid(self.scores, len(self.tested.score), alpha, level, start=self.start)


def threshold_plan(
    data: LabelledArm, given: tuple[float, ...], start: float | None, predictions: bool
) -> ThresholdPlan:
    """Plan the thresholds of a labelled arm.

    given: thresholds; if empty, they are computed from scores. start: see ``threshold_grid``. predictions: whether the
    test also uses the scores of unlabelled answers (uniform draws only). Raises AppError if there are too few of them.
    """
    answers = data.answers
    if data.probability is not None:
        # The test uses the scores of all questions, so none of them may set the thresholds.
        active = ActiveUnlabelledScores(data.spare, data.probability, data.floor)
        return ThresholdPlan(
            "given" if given else "fixed in advance", None, given or FIXED_GRID, answers, unlabelled=active
        )
    if predictions:
        return _predicted_plan(data, given, start)
    if given:
        return ThresholdPlan("given", None, given, answers)
    if np.count_nonzero(data.spare > NO_SCORE) >= FEWEST_SPARE:
        return ThresholdPlan("unlabelled answers", data.spare, (), answers, start)
    if len(answers.score) >= FEWEST_TO_SPLIT:
        # The draw is in random order, so its first fifth is a random sample.
        indices = np.arange(len(answers.score))
        first, rest = (answers.part(chosen) for chosen in np.split(indices, [len(indices) // 5]))
        if first.passes(0.0).any():
            return ThresholdPlan("a fifth of the labelled answers", first.score, (), rest, start)
    return ThresholdPlan("fixed in advance", None, FIXED_GRID, answers)


def _predicted_plan(data: LabelledArm, given: tuple[float, ...], start: float | None) -> ThresholdPlan:
    """Return a plan in which half of the unlabelled answers set the thresholds and the other half is used in the test.

    The unlabelled answers are in random order. Given thresholds leave all of them to the test.
    """
    first, rest = np.split(data.spare, [0 if given else len(data.spare) // 2])
    if len(rest) < len(data.answers.score) or (not given and np.count_nonzero(first > NO_SCORE) < FEWEST_SPARE):
        raise AppError(
            f"{len(data.spare)} unlabelled answers for {len(data.answers.score)} labelled ones: --predictions "
            "needs at least as many unlabelled answers as labels, and twice as many without --thresholds"
        )
    unlabelled = UniformUnlabelledScores(rest)
    if given:
        return ThresholdPlan("given", None, given, data.answers, unlabelled=unlabelled)
    return ThresholdPlan("unlabelled answers", first, (), data.answers, start, unlabelled)
