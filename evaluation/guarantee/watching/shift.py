"""Alarm for questions that differ from those of the calibration, whatever their answers are.

A certificate applies to questions like the labelled ones. Each new question gets a distance from questions of the
calibration; its conformal p-value is its rank among all distances so far. While questions are exchangeable, these
p-values are independent and uniform (Vovk, Gammerman and Shafer 2005, theorem 8.2), and bets on small or large values
do not grow. The alarm is then never raised, with probability at least 1 - delta. It says nothing about the rate itself.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.guarantee.betting import mean_capital
from evaluation.guarantee.levels import check_level
from evaluation.statistics.counts import Floats

_POWERS: Floats = np.array([0.1, 0.2, 0.35, 0.5, 0.7, 0.9])
"""Powers epsilon of the bets epsilon p^(epsilon - 1), each of mean 1 under a uniform p (Vovk et al., section 8.1)."""
FEWEST = 20


def distances(questions: Floats, reference: Floats) -> Floats:
    """Return 1 minus the greatest cosine similarity to a reference question. (N, E), (M, E) unit vectors -> (N,).

    reference: some of the calibration's questions. ShiftWatch starts from the distances of the others, measured like
    new questions. Distances of the reference questions to themselves would not be exchangeable with these.
    """
    result: Floats = 1.0 - (questions @ reference.T).max(axis=1)
    return result


class ShiftWatch:
    """A sequential test for covariate shift. It takes distances one by one and keeps all of them sorted."""

    def __init__(self, calibration: Floats, delta: float = 0.05, seed: int = 0) -> None:
        """Start from the calibration.

        calibration: (N,), distances of calibration questions, at least 20. delta: false-alarm rate over the entire life
        of the watch. seed: seed of the ranks of equal distances. Raises EvaluationError for too few or non-finite
        distances.
        """
        self.delta = check_level("delta", delta)
        if len(calibration) < FEWEST or not np.all(np.isfinite(calibration)):
            raise EvaluationError(f"{len(calibration)} distances: at least {FEWEST} are needed, all of them finite")
        self._known = sorted(float(d) for d in calibration)
        self._rng = np.random.default_rng(seed)
        self._capital = np.zeros(2 * _POWERS.size)
        self._seen, self._most = 0, 0.0
        self._raised_after: int | None = None

    def add(self, distance: float) -> float:
        """Add the distance of a new question and return its p-value, which is small for an unusually large distance."""
        if not math.isfinite(distance):
            raise EvaluationError(f"the distance is {distance}: it must be finite")
        further = len(self._known) - bisect_right(self._known, distance)
        equal = bisect_right(self._known, distance) - bisect_left(self._known, distance) + 1
        p = (further + float(self._rng.random()) * equal) / (len(self._known) + 1)
        p = min(max(p, 1e-12), 1.0 - 1e-12)
        insort(self._known, distance)
        self._seen += 1
        for half, value in enumerate((p, 1.0 - p)):
            part = slice(half * _POWERS.size, (half + 1) * _POWERS.size)
            self._capital[part] += np.log(_POWERS) + (_POWERS - 1.0) * math.log(value)
        now = self.log_capital
        self._most = max(self._most, now)
        if self._raised_after is None and now >= math.log(1.0 / self.delta):
            self._raised_after = self._seen
        return p

    @property
    def log_capital(self) -> float:
        """Log of the mean capital of all bets."""
        return float(mean_capital(self._capital))

    @property
    def raised_after(self) -> int | None:
        """Number of questions until the alarm was raised, None if it was not."""
        return self._raised_after
