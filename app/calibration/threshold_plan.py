"""Where thresholds come from, and which answers test them: never the labels of the same answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.calibration.labelled_run import LabelledArm
from app.errors import AppError
from evaluation.guarantee.answers import NO_SCORE, LabelledAnswers
from evaluation.guarantee.beside import ActiveBeside, Beside, UniformBeside
from evaluation.guarantee.thresholds import threshold_grid
from evaluation.statistics.counts import Floats

GridSource = Literal["given", "unlabelled answers", "a fifth of the labelled answers", "fixed in advance"]
FIXED_GRID = tuple(round(0.9 - 0.1 * step, 1) for step in range(10))
FEWEST_SPARE, FEWEST_TO_SPLIT = 20, 100
"""So many unlabelled scores set thresholds; so many labelled answers are worth splitting."""


@dataclass(frozen=True, slots=True)
class ThresholdPlan:
    """Where thresholds come from and the answers that test them; never from the labels of those."""

    source: GridSource
    scores: Floats | None
    given: tuple[float, ...]
    tested: LabelledAnswers
    start: float | None = None
    beside: Beside | None = None

    def thresholds(self, alpha: float, level: float) -> tuple[float, ...]:
        """Of one alpha: a larger one needs fewer answers, so its grid starts stricter."""
        if self.scores is None:
            return self.given
        return threshold_grid(self.scores, len(self.tested.score), alpha, level, start=self.start)


def threshold_plan(
    data: LabelledArm, given: tuple[float, ...], start: float | None, predictions: bool
) -> ThresholdPlan:
    """The plan for a labelled arm. given: thresholds, none to take them from scores. start: see ``threshold_grid``.
    predictions: whether scores without labels stand beside the labels of a uniform draw.

    Raises AppError where they are too few for that.
    """
    answers = data.answers
    if data.probability is not None:
        # Scores of all questions are in the test, so that none of them may set the thresholds.
        active = ActiveBeside(data.spare, data.probability, data.floor)
        return ThresholdPlan(
            "given" if given else "fixed in advance", None, given or FIXED_GRID, answers, beside=active
        )
    if predictions:
        return _predicted_plan(data, given, start)
    if given:
        return ThresholdPlan("given", None, given, answers)
    if np.count_nonzero(data.spare > NO_SCORE) >= FEWEST_SPARE:
        return ThresholdPlan("unlabelled answers", data.spare, (), answers, start)
    if len(answers.score) >= FEWEST_TO_SPLIT:
        # The draw is in random order: its first fifth is a random fifth.
        places = np.arange(len(answers.score))
        first, rest = (answers.part(chosen) for chosen in np.split(places, [len(places) // 5]))
        if first.passes(0.0).any():
            return ThresholdPlan("a fifth of the labelled answers", first.score, (), rest, start)
    return ThresholdPlan("fixed in advance", None, FIXED_GRID, answers)


def _predicted_plan(data: LabelledArm, given: tuple[float, ...], start: float | None) -> ThresholdPlan:
    """Half of the unlabelled answers set thresholds (they are in random order), the others stand beside the labels."""
    first, rest = np.split(data.spare, [0 if given else len(data.spare) // 2])
    if len(rest) < len(data.answers.score) or (not given and np.count_nonzero(first > NO_SCORE) < FEWEST_SPARE):
        raise AppError(
            f"{len(data.spare)} answers without labels stand beside {len(data.answers.score)} labelled ones: "
            "--predictions needs as many as there are labels, twice as many without --thresholds"
        )
    beside = UniformBeside(rest)
    if given:
        return ThresholdPlan("given", None, given, data.answers, beside=beside)
    return ThresholdPlan("unlabelled answers", first, (), data.answers, start, beside)
