"""Parts of a coverage table: cells, tallies, and question rates with a given correlation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evaluation.statistics.counts import Floats

LEVEL = 0.95
BLOCK = 2_000_000  # maximum number of question shares in memory


@dataclass(frozen=True, slots=True)
class Cell:
    """Coverage of one interval in one setting. truth_below, truth_above: shares of data sets with the truth below and
    above the interval. width: mean width.
    """

    interval: str
    setting: str
    questions: int
    samples: int
    replicates: int
    truth_below: float
    truth_above: float
    width: float

    @property
    def coverage(self) -> float:
        return 1.0 - self.truth_below - self.truth_above

    @property
    def short(self) -> bool:
        return self.coverage < LEVEL - 3.0 * math.sqrt(LEVEL * (1 - LEVEL) / self.replicates)


def question_rates(rng: np.random.Generator, shape: tuple[int, int], rate: float, correlation: float) -> Floats:
    """Draw the rate of each question: beta with the given mean and intra-question correlation."""
    if rate in (0.0, 1.0) or correlation == 0.0:
        return np.full(shape, rate)
    if correlation == 1.0:
        return (rng.random(shape) < rate).astype(np.float64)
    k = 1.0 / correlation - 1.0
    return rng.beta(rate * k, (1.0 - rate) * k, shape)


class Tally:
    """A collector of the limits of one interval in one setting."""

    def __init__(self, interval: str, setting: str, questions: int, samples: int, truth: float) -> None:
        self.interval, self.setting, self.questions, self.samples, self.truth = (
            interval,
            setting,
            questions,
            samples,
            truth,
        )
        self.seen = self.below = self.above = 0
        self.width = 0.0

    def add(self, lower: Floats, upper: Floats, keep: np.ndarray | None = None) -> None:
        keep = np.ones(lower.shape, bool) if keep is None else keep
        self.seen += int(keep.sum())
        self.below += int((keep & (self.truth < lower - 1e-12)).sum())
        self.above += int((keep & (self.truth > upper + 1e-12)).sum())
        self.width += float((np.clip(upper, -1, 1) - np.clip(lower, -1, 1))[keep].sum())

    def note(self, below: bool, above: bool, width: float) -> None:
        """Count one data set with limits that were compared elsewhere."""
        self.seen += 1
        self.below += below
        self.above += above
        self.width += width

    def cell(self) -> Cell | None:
        if self.seen < 200:
            return None
        n = self.seen
        return Cell(
            self.interval, self.setting, self.questions, self.samples, n, self.below / n, self.above / n, self.width / n
        )


def blocks(replicates: int, questions: int) -> list[int]:
    size = max(1, min(replicates, BLOCK // questions))
    return [min(size, replicates - i) for i in range(0, replicates, size)]
